/**
 * Tokens of the admin API for programs of a person: JWTs of a few minutes that belong to a session and end with it, in
 * every gateway on the store. They have one algorithm and one header, so there is nothing that a token could choose.
 */

import { timingSafeEqual } from "node:crypto";

import { isJsonObject, parseJson } from "../domain/index.ts";
import type { Instant, Principal, PrincipalId } from "../domain/index.ts";
import { MINUTE_MS, SECOND_MS } from "../timing/index.ts";

import type { IdentityPowers } from "./powers.ts";
import type { CredentialRefusal } from "./record-refusals.ts";
import type { FoundSession } from "./sessions.ts";

export interface SessionTokens {
  /** A JWT of at most ten minutes for the admin API, which ends with the session; `undefined` if that has ended. */
  createToken(id: string): Promise<{ readonly token: string; readonly expiresAt: Instant } | undefined>;
  /** The session of such a JWT; `refused` for one that is not valid, `undefined` for a text of another kind. */
  findByToken(text: string, origin: string): Promise<FoundSession | "refused" | undefined>;
}

const MAX_MS = 10 * MINUTE_MS;
const MAX_CHARS = 2_048;
const ISSUER = "glovebox";
const AUDIENCE = "glovebox admin";
const HEADER = encode({ alg: "HS256", typ: "glovebox-admin+jwt" });

export function createSessionTokens(
  { store, record, digestFor, now, createId }: IdentityPowers,
  refuse: (refusal: CredentialRefusal) => void,
  resolve: (id: PrincipalId) => Promise<Principal | undefined>,
): SessionTokens {
  const digest = digestFor("tokens of the admin API");
  return {
    async createToken(id) {
      const row = await store.findSession({ id }, now());
      if (!row) return undefined;
      const { principal: sub, expiresAt: end } = row;
      const [iat, exp] = [now(), Math.min(now() + MAX_MS, end)].map((at) => Math.floor(at / SECOND_MS));
      const claims = { iss: ISSUER, aud: AUDIENCE, sub, sid: id, jti: createId(), iat, exp };
      const [body, expiresAt] = [`${HEADER}.${encode(claims)}`, Number(exp) * SECOND_MS];
      await record({ actor: sub, action: "token.issued", subject: id, detail: { expiresAt } });
      return { token: `${body}.${toText(digest(body))}`, expiresAt };
    },
    async findByToken(text, origin) {
      if (!text.startsWith(`${HEADER}.`)) return undefined;
      const read = text.length > MAX_CHARS ? undefined : readToken(text, digest, now());
      const row = read && (await store.findSession({ id: read.session }, now()));
      const principal = row && row.principal === read.principal ? await resolve(row.principal) : undefined;
      if (row && principal) return { id: row.id, principal, authenticatedAt: row.authenticatedAt };
      refuse({ what: "token", reason: "not valid, expired, or of a session that ended", origin });
      return "refused";
    },
  };
}

/** The session and the principal of a token that was made here and has not expired. */
function readToken(text: string, digest: (text: string) => Uint8Array, now: Instant) {
  const [, payload = "", signature = "", ...more] = text.split(".");
  const sent = Buffer.from(signature, "base64url");
  const own = digest(`${HEADER}.${payload}`);
  if (more.length > 0 || sent.length !== own.length || !timingSafeEqual(sent, own)) return undefined;
  const claims = parseJson(Buffer.from(payload, "base64url").toString());
  if (!isJsonObject(claims) || claims["iss"] !== ISSUER || claims["aud"] !== AUDIENCE) return undefined;
  const { sid: session, sub: principal, iat, exp } = claims;
  if (typeof session !== "string" || typeof principal !== "string") return undefined;
  if (typeof iat !== "number" || typeof exp !== "number") return undefined;
  // A clock that was set back makes no token valid for longer.
  return now >= iat * SECOND_MS && now < exp * SECOND_MS ? { session, principal } : undefined;
}

function encode(value: object): string {
  return toText(Buffer.from(JSON.stringify(value)));
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
