/** Sessions of people in a browser, and one-time codes that open them. Both are kept as keyed digests. */

import { timingSafeEqual } from "node:crypto";

import type { Instant, Principal, PrincipalId } from "../domain/index.ts";
import { DAY_MS, MINUTE_MS } from "../timing/index.ts";

import type { IdentityPowers, StoredSession } from "./powers.ts";
import type { CredentialRefusal } from "./record-refusals.ts";
import { createSessionTokens } from "./session-tokens.ts";
import type { SessionTokens } from "./session-tokens.ts";

export interface OpenedSession {
  readonly id: string;
  /** For the cookie. Nothing else ever returns it. */
  readonly secret: string;
  readonly expiresAt: Instant;
}

/** A session with its person, as both are now. */
export interface FoundSession {
  readonly id: string;
  readonly principal: Principal;
  /** The last time that the person proved who they are: older than some time means that a change needs a new login. */
  readonly authenticatedAt: Instant;
}

export interface LoginTimes {
  /** When the person proved who they are; 0 if that is not known. */
  readonly authenticatedAt: Instant;
  readonly lastsMs: number;
}

export type SessionSummary = Omit<StoredSession, "digest">;

export interface Sessions extends SessionTokens {
  /** Returns a code that opens one session of this person within a minute. */
  createCode(principal: Principal, purpose?: string): Promise<string>;
  /** Opens a session for a code; `undefined` if it is unknown, used or expired. */
  redeem(code: string, origin: string, purpose?: string): Promise<OpenedSession | undefined>;
  /** Opens a session for a person who has just logged in, unless `login` says something else. */
  open(principal: Principal, origin: string, login?: LoginTimes): Promise<OpenedSession>;
  /**
   * The same, unless the credential or its person has ended by then: what ended it, such as a new password, did not see
   * this session. Returns `undefined` then.
   */
  openWhile(
    isValid: () => Promise<boolean>,
    ...login: Parameters<Sessions["open"]>
  ): Promise<OpenedSession | undefined>;
  /** Returns `undefined` for an unknown or ended session, and for a person who was removed. */
  find(secret: string, origin: string): Promise<FoundSession | undefined>;
  list(): Promise<readonly SessionSummary[]>;
  /** Returns the number of sessions that ended. Effective at once in every process. */
  end(which: { readonly id: string } | { readonly principal: PrincipalId } | "all", by: Principal): Promise<number>;
}

const CODE_MS = MINUTE_MS;
const SESSION_MS = 30 * DAY_MS;
/** 256 bits. */
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const OPEN = "open";

export function createSessions(
  powers: IdentityPowers,
  refuse: (refusal: CredentialRefusal) => void,
  resolve: (id: PrincipalId) => Promise<Principal | undefined>,
): Sessions {
  const { store, record, now, random, createId } = powers;
  const digest = powers.digestFor("sessions of people");
  const codeDigest = powers.digestFor("one-time codes");
  const draw = (): string => Buffer.from(random(SECRET_BYTES)).toString("base64url");

  const open: Sessions["open"] = async ({ id: principal }, origin, login) => {
    const [id, secret, at] = [`se_${createId()}`, draw(), now()];
    const expiresAt = at + (login?.lastsMs ?? SESSION_MS);
    await record({ actor: principal, action: "session.opened", subject: id, detail: { origin, expiresAt } });
    await store.addSession({
      id,
      digest: digest(secret),
      principal,
      createdAt: at,
      authenticatedAt: login?.authenticatedAt ?? at,
      expiresAt,
      origin,
    });
    return { id, secret, expiresAt };
  };
  const end: Sessions["end"] = async (which, by) => {
    const ended = await store.endSessions(which);
    for (const { id, principal } of ended)
      await record({ actor: by.id, action: "session.ended", subject: id, detail: { principal } });
    return ended.length;
  };

  return {
    ...createSessionTokens(powers, refuse, resolve),
    open,
    openWhile: createOpenWhile({ open, end }, refuse, resolve),
    async createCode({ id: principal }, purpose = OPEN) {
      const code = draw();
      await record({ actor: principal, action: "code.created", subject: purpose, detail: {} });
      const expiresAt = now() + CODE_MS;
      await store.addCode({ digest: codeDigest(code), purpose, principal, expiresAt }, now());
      return code;
    },
    async redeem(code, origin, purpose = OPEN) {
      const row = SECRET.test(code) ? await store.takeCode(codeDigest(code), purpose, now()) : undefined;
      const principal = row && (await resolve(row.principal));
      if (principal) return open(principal, origin);
      refuse({ what: "code", reason: "unknown, used or expired", origin });
      return undefined;
    },
    async find(secret, origin) {
      const own = SECRET.test(secret) ? digest(secret) : undefined;
      const row = own && (await store.findSession({ digest: own }, now()));
      const principal = row && own && timingSafeEqual(row.digest, own) ? await resolve(row.principal) : undefined;
      if (row && principal) return { id: row.id, principal, authenticatedAt: row.authenticatedAt };
      refuse({ what: "session", reason: "unknown or ended", origin });
      return undefined;
    },
    list: async () => (await store.listSessions(now())).map(({ digest: _, ...summary }) => summary),
    end,
  };
}

function createOpenWhile(
  { open, end }: Pick<Sessions, "end" | "open">,
  refuse: (refusal: CredentialRefusal) => void,
  resolve: (id: PrincipalId) => Promise<Principal | undefined>,
): Sessions["openWhile"] {
  return async (isValid, ...login) => {
    const [principal, origin] = login;
    const opened = await open(...login);
    if ((await isValid()) && (await resolve(principal.id))) return opened;
    await end({ id: opened.id }, principal);
    refuse({ what: "login", reason: "the credential ended meanwhile", origin, principal: principal.id });
    return undefined;
  };
}
