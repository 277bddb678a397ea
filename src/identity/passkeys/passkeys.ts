/**
 * Passkeys of local people. A request is answered once, within five minutes; the device must have verified the person.
 * A login has no name: the passkey itself says whose it is, so that no answer tells who exists.
 */

import { GloveboxError, defined, hasRole, parsePrincipalId } from "../../domain/index.ts";
import type { Principal, PrincipalId } from "../../domain/index.ts";
import type { LoginLimit } from "../login-limit.ts";
import type { Pending } from "../pending.ts";
import type { IdentityPowers, StoredPasskey } from "../powers.ts";
import { nameOfPerson } from "../principals.ts";
import type { CredentialRefusal } from "../record-refusals.ts";
import type { FoundSession, OpenedSession, Sessions } from "../sessions.ts";

import { findChallenge } from "./passkey-answers.ts";
import type { NewPasskeyAnswer, UsedPasskeyAnswer } from "./passkey-answers.ts";
import { createVerifier } from "./verify-passkey.ts";
import type { PasskeyPlace } from "./verify-passkey.ts";

/** Everything about a passkey that is shown. */
export type PasskeySummary = Omit<StoredPasskey, "counter" | "publicKey" | "transports">;

export interface Passkeys {
  /** Returns what the browser needs to make one. Throws REQUEST_CONFLICT for who cannot have one. */
  startAdding(place: PasskeyPlace, session: FoundSession): Promise<object>;
  /** Throws REQUEST_INVALID for an answer that does not fit. */
  add(place: PasskeyPlace, made: AddedPasskey): Promise<PasskeySummary>;
  /** Returns what the browser needs to use one. With a session, only its person's count. Throws LIMIT_QUOTA. */
  startLogin(place: PasskeyPlace, origin: string, session?: FoundSession): Promise<object>;
  /** Opens a session; `undefined` for anything that does not fit. */
  enter(place: PasskeyPlace, answer: UsedPasskeyAnswer, origin: string): Promise<OpenedSession | undefined>;
  /** Oldest first. */
  list(): Promise<readonly PasskeySummary[]>;
  /** Only the own ones, for an operator all. Throws REQUEST_NOT_FOUND for others. */
  remove(id: string, by: Principal): Promise<PasskeySummary>;
}

interface AddedPasskey {
  readonly session: FoundSession;
  readonly answer: NewPasskeyAnswer;
  readonly label: string;
  readonly origin: string;
}

interface PasskeyPowers extends IdentityPowers {
  readonly limit: LoginLimit;
  readonly pending: { readonly added: Pending; readonly used: Pending };
  readonly sessions: Pick<Sessions, "openWhile">;
  readonly refuse: (refusal: CredentialRefusal) => void;
  readonly find: (id: PrincipalId) => Promise<Principal | undefined>;
}

export const PASSKEY_SECONDS = 5 * 60;
const MAX_PASSKEYS = 20;
const CHALLENGE_BYTES = 32;

export function createPasskeys(powers: PasskeyPowers): Passkeys {
  const { store, record } = powers;
  return {
    ...createAdding(powers),
    ...createEntering(powers),
    list: async () => (await store.listPasskeys()).map(toSummary),
    async remove(id, by) {
      const found = await store.findPasskey(id);
      if (!found || (found.principal !== by.id && !hasRole(by, "operator"))) throw notFound();
      await record({ actor: by.id, action: "passkey.removed", subject: found.principal, detail: { id } });
      await store.removePasskey(id);
      return toSummary(found);
    },
  };
}

function createAdding(powers: PasskeyPowers): Pick<Passkeys, "add" | "startAdding"> {
  const { store, record, now, random, pending } = powers;
  const verifier = createVerifier(powers);
  const listOf = async ({ id }: Principal) => (await store.listPasskeys()).filter(({ principal }) => principal === id);
  return {
    async startAdding(place, { id: session, principal }) {
      const name = nameOfPerson(principal.id);
      if (name === undefined || !(await store.findPerson(name))) throw noAccount(principal);
      if (await store.findProviderLogin({ person: name })) throw noAccount(principal);
      const known = await listOf(principal);
      if (known.length >= MAX_PASSKEYS) throw tooMany();
      const challenge = random(CHALLENGE_BYTES);
      await pending.added.put(toText(challenge), { session });
      return verifier.describeNew(place, { principal: principal.id, name, challenge, known });
    },
    async add(place, { session, answer, label, origin }) {
      const { principal } = session;
      const challenge = findChallenge(answer);
      const started = challenge === undefined ? undefined : await pending.added.take(challenge);
      const made =
        started?.["session"] === session.id && challenge && (await verifier.checkNew(place, answer, challenge));
      if (!made) throw invalid();
      const row = { ...made, principal: principal.id, label, createdAt: now() };
      const detail = { id: made.id, label, origin };
      await record({ actor: principal.id, action: "passkey.added", subject: principal.id, detail });
      if (!(await store.addPasskey(row))) throw invalid();
      return toSummary(row);
    },
  };
}

function createEntering(powers: PasskeyPowers): Pick<Passkeys, "enter" | "startLogin"> {
  const { store, record, now, random, limit, pending, sessions, refuse, find } = powers;
  const verifier = createVerifier(powers);
  return {
    async startLogin(place, origin, session) {
      const attempt = await limit.take(undefined, origin);
      const challenge = random(CHALLENGE_BYTES);
      const expected = session?.principal.id;
      await pending.used.put(toText(challenge), { attempt, ...defined({ expected }) });
      const all = expected === undefined ? [] : await store.listPasskeys();
      const known = all.filter(({ principal }) => principal === expected);
      return verifier.describeUse(place, { challenge, known });
    },
    async enter(place, answer, origin) {
      const refused = (reason: string, principal?: PrincipalId): undefined => {
        refuse({ what: "login", reason: `passkey: ${reason}`, origin, ...defined({ principal }) });
        return undefined;
      };
      const challenge = findChallenge(answer);
      const started = challenge === undefined ? undefined : await pending.used.take(challenge);
      if (challenge === undefined || !started) return refused("unknown, used or old request");
      const row = await store.findPasskey(answer.id);
      const person = row && (await find(row.principal));
      if (!row || !person) return refused("unknown passkey");
      const expected = parsePrincipalId(started["expected"]);
      if (started["expected"] !== undefined && expected !== person.id) return refused("another person", expected);
      const { counter, problem } = await verifier.checkUse(place, { answer, challenge, row });
      if (problem !== undefined) return refused(problem, person.id);
      if (!(await store.notePasskeyUse(row.id, { counter, at: now() })))
        return refused("its counter did not grow: there may be a copy", person.id);
      await limit.giveBack(String(started["attempt"]));
      const detail = { origin, method: "passkey" };
      await record({ actor: person.id, action: "login.done", subject: person.id, detail });
      const isKnown = async (): Promise<boolean> => (await store.findPasskey(row.id)) !== undefined;
      return sessions.openWhile(isKnown, person, origin);
    },
  };
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function toSummary({ counter: _, publicKey: __, transports: ___, ...summary }: StoredPasskey): PasskeySummary {
  return summary;
}

function noAccount({ id }: Principal): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${id} has no account of this gateway, and so no passkeys`, {
    hint: "Log in as a person of `glovebox people list` who has no login provider",
  });
}

function tooMany(): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `A person has at most ${MAX_PASSKEYS} passkeys`, {
    hint: "Remove one first",
  });
}

function invalid(): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", "The passkey is not valid here, or the request for it is too old", {
    hint: "Try again; the device must verify you, by PIN, fingerprint or face",
  });
}

function notFound(): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", "This passkey does not exist", {
    hint: "`glovebox people passkeys` lists them",
  });
}
