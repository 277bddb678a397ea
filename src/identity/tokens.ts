/** Tokens of agents and services: shown once, kept as keyed digests, valid until they expire or are revoked. */

import { timingSafeEqual } from "node:crypto";

import { GloveboxError, defined } from "../domain/index.ts";
import type { Instant, JsonObject, Principal, PrincipalId } from "../domain/index.ts";
import { MINUTE_MS, createRecent } from "../timing/index.ts";

import { describeReach } from "./describe-reach.ts";
import type { TokenReach } from "./describe-reach.ts";
import type { IdentityPowers, StoredToken } from "./powers.ts";
import { OPERATOR, nameOfPerson, notAdmitted, parseClientName, toTokenId, toTokenPrincipal } from "./principals.ts";
import { parseProfile } from "./profiles.ts";
import type { Profiles } from "./profiles.ts";
import type { CredentialRefusal } from "./record-refusals.ts";
import { isOfAgent, parseScopes } from "./scopes.ts";
import type { TokenScope } from "./scopes.ts";
import { MAX_TOKEN_CHARS, createTokenText, isTokenText } from "./token-text.ts";

/** Everything about a token but its text. */
export type TokenSummary = Omit<StoredToken, "digest">;

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** The person behind it; by default the one who creates it. */
  readonly person?: PrincipalId;
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly executionsPerMinute?: number;
  /** Narrows it to what the configuration says under this name, at each check. */
  readonly profile?: string;
  readonly expiresAt?: Instant;
  /** Revokes the present token of this name, whose records the new one continues. */
  readonly replace?: boolean;
}

interface CreatedToken {
  readonly token: string;
  readonly summary: TokenSummary;
  /** What a finder of it could do. */
  readonly reach: TokenReach;
}

export interface VerifiedToken {
  readonly id: string;
  readonly principal: Principal;
  readonly scopes: readonly TokenScope[];
}

export interface Tokens {
  /** Returns the text of the token, which nothing else ever does. Throws REQUEST_INVALID or REQUEST_CONFLICT. */
  create(request: TokenRequest, by: Principal): Promise<CreatedToken>;
  /** Returns `undefined` for a text that is not a valid token. Effective at once after a revocation in any process. */
  verify(text: string, origin: string): Promise<VerifiedToken | undefined>;
  list(): Promise<readonly TokenSummary[]>;
  /** The names that a token can be bound to. */
  readonly profiles: readonly string[];
  /** Throws REQUEST_NOT_FOUND for an unknown or revoked one. */
  revoke(id: string, by: Principal): Promise<TokenSummary>;
  /** The principal of the valid token with this name. */
  resolve(name: string): Promise<Principal | undefined>;
  hasValid(): Promise<boolean>;
}

/** The people behind tokens, as they are now. */
interface TokenPeople {
  readonly isPerson: (name: string) => Promise<boolean>;
  readonly mayActFor: (name: string) => Promise<boolean>;
}

const MAX_ENTRIES = 100;
const MAX_ENTRY_CHARS = 256;
/** How far the stored time of the last use may lag. */
const NOTE_MS = MINUTE_MS;
const MAX_NOTED = 10_000;

export function createTokens(
  powers: IdentityPowers,
  refuse: (refusal: CredentialRefusal) => void,
  { profiles, ...people }: TokenPeople & { readonly profiles: Profiles },
): Tokens {
  const { store, record, now, random, createId } = powers;
  const digest = powers.digestFor("tokens of agents and services");
  const note = createNote(store);
  const findProblem = createFindProblem(people, now);

  return {
    async create(request, by) {
      const row = { ...toRow(request, { by, now: now(), profiles }), id: `tk_${createId()}` };
      if (row.person !== OPERATOR.id) await refuseUnlessAdmitted(row, people);
      refuseOtherPerson(row, await store.findToken({ name: row.name }));
      const token = createTokenText(random);
      const whole: StoredToken = { ...row, digest: digest(token) };
      await record({ actor: by.id, action: "token.created", subject: toTokenId(row.name), detail: describe(whole) });
      const replaced = await store.addToken(whole, request.replace === true);
      if (!replaced) throw nameTaken(row.name);
      for (const one of replaced) await recordRevoked(one, by.id);
      const { access, executionsPerMinute } = toTokenPrincipal(whole, profiles);
      const reach = describeReach({ ...whole, ...access, ...defined({ executionsPerMinute }) });
      return { token, summary: toSummary(whole), reach };
    },
    async verify(text, origin) {
      const row = text.length > MAX_TOKEN_CHARS || !isTokenText(text) ? undefined : await find(text);
      const problem = row ? await findProblem(row) : "unknown";
      if (row && problem === undefined) {
        note(row, now());
        return { id: row.id, principal: toTokenPrincipal(row, profiles), scopes: parseScopes(row.scopes) };
      }
      const known = row && { principal: toTokenId(row.name), id: row.id };
      refuse({ what: "token", reason: problem ?? "unknown", origin, ...known });
      return undefined;
    },
    list: async () => (await store.listTokens()).map(toSummary),
    profiles: [...profiles.keys()],
    async revoke(id, by) {
      const revoked = await store.revokeToken(id, { at: now(), by: by.id });
      if (!revoked) throw notFound(id);
      await recordRevoked(revoked, by.id);
      return toSummary(revoked);
    },
    async resolve(name) {
      const row = await store.findToken({ name });
      return row && (await findProblem(row)) === undefined ? toTokenPrincipal(row, profiles) : undefined;
    },
    hasValid: async () => (await Promise.all((await store.listTokens()).map(findProblem))).includes(undefined),
  };

  async function find(text: string): Promise<StoredToken | undefined> {
    const own = digest(text);
    const row = await store.findToken({ digest: own });
    return row && timingSafeEqual(row.digest, own) ? row : undefined;
  }

  async function recordRevoked({ id, name }: StoredToken, actor: string): Promise<void> {
    await record({ actor, action: "token.revoked", subject: toTokenId(name), detail: { id } });
    await powers.stop((principal) => principal === toTokenId(name), actor);
  }
}

function createNote(store: Pick<IdentityPowers["store"], "noteTokenUse">) {
  const noted = createRecent<string, Instant>(MAX_NOTED);
  return ({ id, lastUsedAt = 0 }: StoredToken, at: Instant): void => {
    if (at - Math.max(lastUsedAt, noted.get(id) ?? 0) < NOTE_MS) return;
    noted.set(id, at);
    void store.noteTokenUse(id, at).catch(() => undefined);
  };
}

/** Why a token that exists is not valid. An agent acts for its person only while that person has the role. */
function createFindProblem({ isPerson, mayActFor }: TokenPeople, now: () => Instant) {
  return async ({ revokedAt, expiresAt, person, kind }: StoredToken): Promise<string | undefined> => {
    if (revokedAt !== undefined) return "revoked";
    if (expiresAt !== undefined && expiresAt <= now()) return "expired";
    if (person === OPERATOR.id) return undefined;
    const behind = nameOfPerson(person);
    if (behind === undefined) return "of an unknown person";
    if (kind === "service") return (await isPerson(behind)) ? undefined : "of a removed person";
    return (await mayActFor(behind)) ? undefined : "of a person for whom no agent may act";
  };
}

/** Handles, approvals and labels belong to the name of a token. */
function refuseOtherPerson({ name, person }: Pick<StoredToken, "name" | "person">, former?: StoredToken): void {
  if (former && former.person !== person) throw ofAnother(name, former.person);
}

async function refuseUnlessAdmitted(
  { person, kind }: Pick<StoredToken, "person" | "kind">,
  people: TokenPeople,
): Promise<void> {
  const name = nameOfPerson(person);
  if (name === undefined || !(await people.isPerson(name))) throw unknownPerson(name ?? person);
  if (kind === "agent" && !(await people.mayActFor(name))) throw notAdmitted(name);
}

function toRow(
  request: TokenRequest,
  { by, now, profiles }: { readonly by: Principal; readonly now: Instant; readonly profiles: Profiles },
): Omit<StoredToken, "id" | "digest"> {
  const { executionsPerMinute, expiresAt, person = by.id } = request;
  const scopes = parseScopes(request.scopes);
  if (expiresAt !== undefined && expiresAt <= now) throw invalid("The token would already have expired");
  return {
    name: parseClientName(request.name),
    kind: isOfAgent(scopes) ? "agent" : "service",
    person,
    scopes,
    createdAt: now,
    createdBy: by.id,
    ...defined({
      servers: parseEntries(request.servers, "server"),
      tools: parseEntries(request.tools, "tool"),
      executionsPerMinute,
      profile: parseProfile(request.profile, profiles),
      expiresAt,
    }),
  };
}

function parseEntries(raw: readonly string[] | undefined, what: string): readonly string[] | undefined {
  if (raw === undefined) return undefined;
  const isFine =
    raw.length > 0 && raw.length <= MAX_ENTRIES && raw.every((one) => one !== "" && one.length <= MAX_ENTRY_CHARS);
  if (!isFine) throw invalid(`A token names 1 to ${MAX_ENTRIES} ${what}s of at most ${MAX_ENTRY_CHARS} characters`);
  return [...new Set(raw)];
}

function toSummary({ digest: _, ...summary }: StoredToken): TokenSummary {
  return summary;
}

function describe({
  id,
  kind,
  person,
  scopes,
  servers,
  tools,
  executionsPerMinute,
  profile,
  expiresAt,
}: StoredToken): JsonObject {
  return { id, kind, person, scopes, ...defined({ servers, tools, executionsPerMinute, profile, expiresAt }) };
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, {
    hint: "`glovebox tokens create --help` shows what a token can have",
  });
}

function nameTaken(name: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `A token was already named ${name}`, {
    hint: "Choose another name, or use --replace to revoke that token and continue its records",
  });
}

function ofAnother(name: string, person: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `The records of the token ${name} belong to ${person}`, {
    hint: "Choose another name, or make the new token for the same person",
  });
}

function notFound(id: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `${JSON.stringify(id.slice(0, 80))} is not the id of a valid token`, {
    hint: "`glovebox tokens list` shows the ids",
  });
}

function unknownPerson(name: string): GloveboxError {
  const shown = JSON.stringify(name.slice(0, 80));
  return new GloveboxError("REQUEST_NOT_FOUND", `${shown} is not a person of this gateway`, {
    hint: "Add the person first: glovebox people add NAME --role agent",
  });
}
