/** People, tokens, sessions and one-time codes in the store. Of credentials it has keyed digests only. */

import { parseJson, parsePrincipalId } from "../domain/index.ts";
import type { Instant, PrincipalId } from "../domain/index.ts";

import { bytes, createShape, damaged, integer, oneOf, optional, parsed, text } from "./row.ts";
import type { RowOf } from "./row.ts";

/** A person who may log in, or on whose behalf agents act. */
export const PERSON = createShape({
  /** Without `person:`. */
  name: text,
  roles: texts,
  createdAt: integer,
  createdBy: text,
});
export type PersonRow = RowOf<typeof PERSON>;

/** A token of an agent or a service. A revoked one is kept, so that its name never means another. */
export const TOKEN = createShape({
  id: text,
  name: text,
  digest: bytes,
  kind: oneOf("agent", "service"),
  /** The person behind it. */
  person: parsed(parsePrincipalId),
  scopes: texts,
  servers: optional(texts),
  tools: optional(texts),
  executionsPerMinute: optional(integer),
  profile: optional(text),
  createdAt: integer,
  createdBy: text,
  expiresAt: optional(integer),
  revokedAt: optional(integer),
  revokedBy: optional(text),
  lastUsedAt: optional(integer),
});
export type TokenRow = RowOf<typeof TOKEN>;

/** A logged-in browser. */
export const SESSION = createShape({
  id: text,
  digest: bytes,
  principal: parsed(parsePrincipalId),
  createdAt: integer,
  /** The last time that the person proved who they are. */
  authenticatedAt: integer,
  expiresAt: integer,
  /** The address that it was opened from. */
  origin: text,
});
export type SessionRow = RowOf<typeof SESSION>;

/** A code that can be exchanged once. */
export const CODE = createShape({
  digest: bytes,
  /** What it may be exchanged for, such as `open`. */
  purpose: text,
  principal: parsed(parsePrincipalId),
  expiresAt: integer,
});
export type CodeRow = RowOf<typeof CODE>;

/** How a person logs in without a provider. */
export const PASSWORD = createShape({
  principal: parsed(parsePrincipalId),
  /** A salted hash with its parameters. */
  verifier: text,
  setAt: integer,
});
export type PasswordRow = RowOf<typeof PASSWORD>;

/** A person whose login is at a provider. */
export const PROVIDER_LOGIN = createShape({
  issuer: text,
  /** As the provider names the person, for good. */
  subject: text,
  /** Without `person:`. */
  person: text,
  createdAt: integer,
  lastLoginAt: integer,
});
export type ProviderLoginRow = RowOf<typeof PROVIDER_LOGIN>;

/** A key pair of a person, whose private half their device keeps. */
export const PASSKEY = createShape({
  /** As the device named it. */
  id: text,
  principal: parsed(parsePrincipalId),
  publicKey: bytes,
  /** Uses, as the device counts them; 0 for devices that do not. */
  counter: integer,
  transports: texts,
  /** As the person calls it. */
  label: text,
  createdAt: integer,
  lastUsedAt: optional(integer),
});
export type PasskeyRow = RowOf<typeof PASSKEY>;

/** A record of the authorization server: a client, a code, a token, a grant. */
export const OAUTH_RECORD = createShape({
  digest: bytes,
  model: text,
  /** The grant that it belongs to. */
  grantDigest: optional(bytes),
  uidDigest: optional(bytes),
  /** The person who gave it, without `person:`. */
  person: optional(text),
  sealed: bytes,
  expiresAt: optional(integer),
  consumedAt: optional(integer),
});
export type OauthRow = RowOf<typeof OAUTH_RECORD>;

/** When and by whom a credential was ended. */
export interface Ending {
  readonly at: Instant;
  readonly by: string;
}

/** What of a person was valid until now. */
export interface EndedCredentials {
  readonly tokens: readonly TokenRow[];
  readonly sessions: readonly SessionRow[];
}

/** A principal and the person behind it. */
export interface HandedOver {
  readonly id: PrincipalId;
  readonly person: PrincipalId;
}

export interface IdentityStore {
  /** Returns false if the name exists. */
  addPerson(row: PersonRow): Promise<boolean>;
  findPerson(name: string): Promise<PersonRow | undefined>;
  /** Sorted by name. */
  listPeople(): Promise<readonly PersonRow[]>;
  /** `last`: nothing was changed, because no other person is an operator. */
  setRoles(name: string, roles: PersonRow["roles"]): Promise<"changed" | "unknown" | "last">;
  /** Ends the credentials in the same transaction. `last`: nothing was changed. */
  removePerson(name: string, how: Ending): Promise<EndedCredentials | "unknown" | "last">;
  /** Returns false if the person does not exist; then nothing was written. */
  setPassword(row: PasswordRow): Promise<boolean>;
  findPassword(principal: PrincipalId): Promise<PasswordRow | undefined>;
  /** Removes password, passkeys, codes, sessions and logins of MCP clients, and revokes tokens, in one transaction. */
  endCredentials(name: string, how: Ending): Promise<EndedCredentials>;
  /** Returns false if the person does not exist, or the id does; then nothing was written. */
  addPasskey(row: PasskeyRow): Promise<boolean>;
  findPasskey(id: string): Promise<PasskeyRow | undefined>;
  /** Oldest first. */
  listPasskeys(): Promise<readonly PasskeyRow[]>;
  /** Returns false if the counter did not grow, unless the device does not count; then nothing was written. */
  notePasskeyUse(id: string, use: { readonly counter: number; readonly at: Instant }): Promise<boolean>;
  /** Returns the removed one. */
  removePasskey(id: string): Promise<PasskeyRow | undefined>;
  findProviderLogin(
    by: { readonly issuer: string; readonly subject: string } | { readonly person: string },
  ): Promise<ProviderLoginRow | undefined>;
  /** Outlives its person: one who was removed does not come back as another. */
  removeProviderLogin(person: string): Promise<void>;
  /** Sorted by person. */
  listProviderLogins(): Promise<readonly ProviderLoginRow[]>;
  /**
   * Gives the person of a provider login these roles; no rule about the last operator holds. The first time it adds the
   * person of the row. `taken`: nothing was written, because that name belongs to another person, or because the person
   * was removed.
   */
  admitProviderLogin(row: ProviderLoginRow, roles: PersonRow["roles"]): Promise<PersonRow | "taken">;
  /**
   * Returns the tokens that the new one replaced, or `undefined` if the name was ever used and nothing is to be
   * replaced; then nothing was written.
   */
  addToken(row: TokenRow, replaces: boolean): Promise<readonly TokenRow[] | undefined>;
  /** Of several tokens with one name the newest. */
  findToken(by: { readonly digest: Uint8Array } | { readonly name: string }): Promise<TokenRow | undefined>;
  /** Newest first. */
  listTokens(): Promise<readonly TokenRow[]>;
  /** Returns `undefined` if it was not valid before. */
  revokeToken(id: string, how: Ending): Promise<TokenRow | undefined>;
  noteTokenUse(id: string, at: Instant): Promise<void>;
  addSession(row: SessionRow): Promise<void>;
  /** An expired session is not found. */
  findSession(
    by: { readonly digest: Uint8Array } | { readonly id: string },
    now: Instant,
  ): Promise<SessionRow | undefined>;
  /** Newest first. Removes expired ones. */
  listSessions(now: Instant): Promise<readonly SessionRow[]>;
  /** Returns the sessions that ended. */
  endSessions(
    which: { readonly id: string } | { readonly principal: PrincipalId } | "all",
  ): Promise<readonly SessionRow[]>;
  /** Also removes expired codes. */
  addCode(row: CodeRow, now: Instant): Promise<void>;
  /** Removes the code and returns it, unless it has expired or is for another purpose: of two processes one gets it. */
  takeCode(digest: Uint8Array, purpose: string, now: Instant): Promise<CodeRow | undefined>;
  removeCodes(principal: PrincipalId, purpose: string): Promise<void>;
  /** Replaces one with the same digest. Also removes expired ones. */
  putOauthRecord(row: OauthRow, now: Instant): Promise<void>;
  /** An expired one is not found, and with `granted` neither is one whose grant was removed or has expired. */
  findOauthRecord(
    by: { readonly digest: Uint8Array; readonly granted?: boolean } | { readonly uid: Uint8Array },
    now: Instant,
  ): Promise<OauthRow | undefined>;
  /** Returns false if it was consumed before: of two processes one consumes it. */
  consumeOauthRecord(digest: Uint8Array, at: Instant): Promise<boolean>;
  countOauthRecords(model: string, now: Instant): Promise<number>;
  /** Those of one kind, of one person or all, without expired ones. */
  listOauthRecords(model: string, now: Instant, person?: string): Promise<readonly OauthRow[]>;
  /** One record, those of a grant, or a grant with those, in one statement. Returns the number of records. */
  removeOauthRecords(
    which: { readonly digest: Uint8Array } | { readonly grant: Uint8Array } | { readonly login: Uint8Array },
  ): Promise<number>;
  /**
   * Hands all records of a principal over to another one. What its person learned about tools is copied to that of the
   * other. Returns the number of executions.
   */
  handOver(from: HandedOver, to: HandedOver): Promise<number>;
}

function texts(value: unknown, column: string): readonly string[] {
  const list: unknown = parseJson(text(value, column));
  if (!Array.isArray(list)) throw damaged(`${column} is not an array`);
  return list.map((entry) => text(entry, column));
}
