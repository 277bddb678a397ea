/** Passkeys over HTTP: to log in with one, and to add, list and remove one's own. */

import { isIP } from "node:net";

import type { Context, Hono } from "hono";
import * as z from "zod";

import { GloveboxError } from "../../domain/index.ts";
import type { Identity } from "../../identity/index.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { findSession, refuseCrossSite } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { PasskeysAnswer } from "./login-contract.ts";
import { isLoopback } from "./guard.ts";

const BASE64URL = z.string().regex(/^[A-Za-z0-9_-]{1,8000}$/);
const credential = { id: BASE64URL, rawId: BASE64URL, type: z.literal("public-key") };
const LOGIN_START = z.strictObject({ stepUp: z.boolean().optional() });
const LOGIN = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: BASE64URL,
    authenticatorData: BASE64URL,
    signature: BASE64URL,
    userHandle: BASE64URL.optional(),
  }),
});
const ADD = z.strictObject({
  label: z
    .string()
    .trim()
    .regex(/^[^\p{C}]{1,60}$/u),
  answer: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: BASE64URL,
      attestationObject: BASE64URL,
      transports: z.array(z.string()).optional(),
    }),
  }),
});

type PageOfPasskeys = Parameters<Identity["passkeys"]["startAdding"]>[0];

/** A passkey belongs to a host name; `localhost` stands for addresses of this machine. Other addresses have none. */
export function findPasskeyPlace(pageUrl: string): PageOfPasskeys | undefined {
  const url = new URL(pageUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isLoopback(host)) url.hostname = "localhost";
  else if (isIP(host) !== 0) return undefined;
  return { rpId: url.hostname, pageOrigin: url.origin };
}

interface PasskeyDoor {
  readonly identity: Identity;
  readonly pageUrl: () => string;
  /** Answers with a session, or with 401. */
  readonly answer: (
    c: Context<AppEnv>,
    opened: Awaited<ReturnType<Identity["passkeys"]["enter"]>>,
    refusal: readonly [string, string],
  ) => Promise<Response>;
}

/** Before a caller is known. */
export function addPasskeyLogin(routes: Hono<AppEnv>, { identity, pageUrl, answer }: PasskeyDoor): void {
  const { passkeys, sessions } = identity;
  routes.post("/login/passkey/start", async (c) => {
    const { headers } = c.req.raw;
    refuseCrossSite(headers);
    const { stepUp = false } = parseRequest(LOGIN_START, await readBody(c.req.raw), "body");
    const client = c.get("client");
    const session = stepUp ? await findSession(headers, client, sessions) : undefined;
    if (stepUp && !session) throw new GloveboxError("REQUEST_UNAUTHENTICATED", "This needs a session", LOG_IN);
    return c.json(await passkeys.startLogin(getPlace(pageUrl()), client.origin, session));
  });
  routes.post("/login/passkey", async (c) => {
    refuseCrossSite(c.req.raw.headers);
    const used = parseRequest(LOGIN, await readBody(c.req.raw), "body");
    return answer(c, await passkeys.enter(getPlace(pageUrl()), used, c.get("client").origin), WRONG_PASSKEY);
  });
}

/** After the caller is known. Changes need a recent login, like all others. */
export function addPasskeys(routes: Hono<AppEnv>, { identity, pageUrl }: Omit<PasskeyDoor, "answer">): void {
  const { passkeys } = identity;
  routes.get("/passkeys", async (c) => {
    const { id } = getSession(c).principal;
    const own = (await passkeys.list()).filter(({ principal }) => principal === id);
    return c.json({ passkeys: own } satisfies PasskeysAnswer);
  });
  routes.post("/passkeys/start", async (c) => c.json(await passkeys.startAdding(getPlace(pageUrl()), getSession(c))));
  routes.post("/passkeys", async (c) => {
    const session = getSession(c);
    const made = parseRequest(ADD, await readBody(c.req.raw), "body");
    return c.json(await passkeys.add(getPlace(pageUrl()), { ...made, session, origin: c.get("client").origin }));
  });
  routes.delete("/passkeys/:id", async (c) =>
    c.json(await passkeys.remove(c.req.param("id"), getSession(c).principal)),
  );
}

const LOG_IN = { hint: "Log in first" };
const WRONG_PASSKEY = [
  "The passkey is not valid here, or the request for it is too old",
  "Try again, or log in another way",
] as const;

function getSession(c: Context<AppEnv>) {
  const { session } = c.get("caller");
  if (session) return session;
  throw new GloveboxError("REQUEST_FORBIDDEN", "Passkeys belong to people with a session", LOG_IN);
}

function getPlace(pageUrl: string): PageOfPasskeys {
  const place = findPasskeyPlace(pageUrl);
  if (place) return place;
  throw new GloveboxError("REQUEST_CONFLICT", "Passkeys need a page with a host name, and this one has an address", {
    hint: "An operator sets server.publicUrl",
  });
}
