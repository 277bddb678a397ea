/** The agent that an OAuth client is for the person who let it in. */

import { createHash } from "node:crypto";

import type { Principal } from "../../domain/index.ts";
import { CLIENT_NAME, LOCAL_CLIENT, toAgent } from "../principals.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import type { TokenScope } from "../scopes.ts";

const DIGEST_CHARS = 16;
const MAX_SHOWN = 40;
/** Another length than that of a digest. */
const REGISTERED_BYTES = 10;
/** The end of a name that was made from another id. */
const DERIVED = new RegExp(`-[0-9a-f]{${DIGEST_CHARS}}$`);

/**
 * The id itself, or its host or readable start with a digest: two ids never have one name, and none has the name of the
 * local client.
 */
export function toClientName(clientId: string): string {
  if (CLIENT_NAME.test(clientId) && !DERIVED.test(clientId) && clientId !== LOCAL_CLIENT) return clientId;
  const shown = (URL.parse(clientId)?.hostname || clientId).replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, MAX_SHOWN);
  const digest = createHash("sha256").update(clientId).digest("hex").slice(0, DIGEST_CHARS);
  return `${/^[A-Za-z0-9]/.test(shown) ? shown : "client"}-${digest}`;
}

/** The id of a client that registers itself: what it calls itself, for people who read it, and a number that is unique. */
export function toRegisteredId(name: unknown, random: (count: number) => Uint8Array): string {
  const shown =
    typeof name === "string"
      ? name
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, "-")
          .slice(0, MAX_SHOWN)
      : "";
  const number = Buffer.from(random(REGISTERED_BYTES)).toString("hex");
  return `${shown.replaceAll(/^-+|-+$/g, "") || "client"}-${number}`;
}

/** Those that a client of `/mcp` can have, in the order of the table; others are ignored. */
export function readScopes(texts: readonly string[]): readonly TokenScope[] {
  return AGENT_SCOPES.filter((scope) => texts.includes(scope));
}

/** `execute:read` without `execute` allows reads only. */
export function toOauthAgent(person: string, client: string, scopes: readonly TokenScope[]): Principal {
  const agent = toAgent(person, client);
  return scopes.includes("execute") ? agent : { ...agent, access: { effects: ["read"] } };
}
