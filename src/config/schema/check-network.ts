/** Checks of keys that depend on each other in `egress` and in every network policy. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { KeyPath, Problems } from "../problems.ts";

const ONE_REFERENCE = /^\$\{(?:secret:)?[A-Za-z0-9_]+\}$/;

/** A proxy's credentials need each other, and the password must not be in the file. */
export function checkProxy({ egress }: JsonObject, problems: Problems): void {
  if (!isJsonObject(egress)) return;
  const { proxy, proxyUser, proxyPassword } = egress;
  const refuse = (key: string, message: string): void =>
    problems.report({ path: ["egress", key], anchor: "key", message });
  if (proxyUser !== undefined && proxy === undefined) refuse("proxyUser", "has an effect only together with proxy");
  if (proxyUser !== undefined && proxyPassword === undefined) refuse("proxyUser", "needs proxyPassword");
  if (proxyPassword === undefined) return;
  if (proxyUser === undefined) refuse("proxyPassword", "has an effect only together with proxyUser");
  if (typeof proxyPassword === "string" && !ONE_REFERENCE.test(proxyPassword)) {
    refuse("proxyPassword", "expected exactly one ${secret:NAME} or ${VARIABLE}");
  }
}

/** Works on a configuration that may still break the schema. */
export function checkNetworkPolicies(config: JsonObject, problems: Problems): void {
  const { sandbox, egress, mcpServers, openapi, adapters } = config;
  const entries: readonly (readonly [KeyPath, Json | undefined])[] = [
    [["sandbox"], sandbox],
    [["egress"], egress],
    ...entriesOf(mcpServers, ["mcpServers"]),
    ...withTools(entriesOf(openapi, ["openapi"])),
    ...withTools(Array.isArray(adapters) ? adapters.map((entry: Json, index) => [["adapters", index], entry]) : []),
  ];
  for (const [path, entry] of entries) {
    if (!isJsonObject(entry)) continue;
    const { networkPolicy } = entry;
    if (isJsonObject(networkPolicy)) checkPolicy(networkPolicy, [...path, "networkPolicy"], problems);
  }
}

type Entry = readonly [KeyPath, Json];

function entriesOf(raw: Json | undefined, path: KeyPath): readonly Entry[] {
  return isJsonObject(raw) ? Object.entries(raw).map(([key, entry]): Entry => [[...path, key], entry]) : [];
}

function withTools(entries: readonly Entry[]): readonly Entry[] {
  const tools = entries.flatMap(([path, entry]) =>
    isJsonObject(entry) ? entriesOf(entry["tools"], [...path, "tools"]) : [],
  );
  return [...entries, ...tools];
}

/** Refuses a key that has no effect in this mode: the operator expects one. */
function checkPolicy({ mode = "blocked", domains, grants }: JsonObject, path: KeyPath, problems: Problems): void {
  const refuse = (key: string, message: string): void =>
    problems.report({ path: [...path, key], anchor: "key", message });
  if (domains !== undefined && mode !== "allowed") refuse("domains", 'has an effect only with mode "allowed"');
  if (grants !== undefined && mode === "blocked") {
    refuse("grants", 'has an effect only with mode "allowed" or "unrestricted"');
  }
}
