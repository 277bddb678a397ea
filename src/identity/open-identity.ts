/** Opens the room: who a principal is, by credential or by name. */

import { createHmac, createSecretKey } from "node:crypto";

import type { Instant, Principal, PrincipalId, Seal } from "../domain/index.ts";
import type { LedgerEntry } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";
import type { Vault } from "../vault/index.ts";

import { createLoginLimit } from "./login-limit.ts";
import { createLogins } from "./logins.ts";
import type { PasswordLogins } from "./logins.ts";
import { createPasswords } from "./passwords.ts";
import type { Passwords } from "./passwords.ts";
import { createClientLogins } from "./oauth/client-logins.ts";
import type { ClientLogins } from "./oauth/client-logins.ts";
import { createOauthAgents } from "./oauth/oauth-agents.ts";
import { createOauthRecords } from "./oauth/oauth-records.ts";
import { openOauth } from "./oauth/open-oauth.ts";
import type { OauthLogins, OauthOptions } from "./oauth/open-oauth.ts";
import { PASSKEY_SECONDS, createPasskeys } from "./passkeys/passkeys.ts";
import type { Passkeys } from "./passkeys/passkeys.ts";
import { ADOPTED_KEY, createPeople } from "./people.ts";
import type { People } from "./people.ts";
import { createPending } from "./pending.ts";
import type { IdentityPowers } from "./powers.ts";
import {
  LIBRARY,
  LOCAL,
  findLibraryPrincipal,
  OPERATOR,
  nameOfPerson,
  nameOfToken,
  partsOfAgent,
} from "./principals.ts";
import { toAdopted, toPerson } from "./principals.ts";
import type { ProviderSettings } from "./providers/provider-client.ts";
import { LOGIN_SECONDS, createProviderLogins } from "./providers/provider-logins.ts";
import type { ProviderLogins } from "./providers/provider-logins.ts";
import { createRefusals } from "./record-refusals.ts";
import type { CredentialRefusal } from "./record-refusals.ts";
import { createSessions } from "./sessions.ts";
import type { Sessions } from "./sessions.ts";
import { createStop } from "./stop-executions.ts";
import { createTokens } from "./tokens.ts";
import type { Tokens } from "./tokens.ts";

export interface Identity extends OauthLogins {
  readonly people: People;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly logins: PasswordLogins;
  /** At the built-in authorization server. */
  readonly clientLogins: Omit<ClientLogins, "endGrant">;
  readonly passkeys: Passkeys;
  /** Absent without a login provider. */
  readonly providers?: ProviderLogins;
  /** Clients of the local user on this machine: `local`, or an agent of the person who adopted them. */
  readonly local: () => Promise<Principal>;
  /** Returns the principal of stored records as it is now; `undefined` if it was revoked, removed or has expired. */
  readonly resolve: (id: PrincipalId) => Promise<Principal | undefined>;
  /** The person behind a principal, and a person themselves; the local operator is the person who adopted local clients. */
  readonly personOf: (id: PrincipalId) => Promise<PrincipalId | undefined>;
  /** Records a refused request without a credential that this room could check, such as one past the proxy. */
  refuse(refusal: CredentialRefusal): void;
  /** True if anyone can log in from another machine: a person exists, a login provider, or a valid token. */
  canAuthenticate(): Promise<boolean>;
}

export interface IdentityOptions {
  readonly store: Pick<Store, "cancellations" | "executions" | "identity" | "meta" | "quotas">;
  readonly ledger: { write(entry: LedgerEntry, durability?: "batched"): Promise<unknown> };
  /** Its keys for digests of credentials outlive a rotation of the vault's key. */
  readonly vault: Pick<Vault, "lend"> & { openSeal(): Promise<Pick<Seal, "close" | "derive" | "open">> };
  readonly now: () => Instant;
  readonly random: (count: number) => Uint8Array;
  /** For a gateway that serves HTTP. */
  readonly oauth?: OauthOptions;
  /** Where people log in, by name. Needs `oauth`, whose egress rules hold for them too. */
  readonly providers?: ReadonlyMap<string, ProviderSettings>;
  /** How passwords are hashed. Default: with the cost of the product. */
  readonly passwords?: Passwords;
}

const ID_BYTES = 12;

/** Owns nothing that must be closed. */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { store, ledger, vault, now, oauth, providers = new Map<never, never>() } = options;
  const seal = await vault.openSeal();
  const powers = createPowers(options, seal, async (id) => (await resolve(id)) !== undefined);
  const refuse = createRefusals({ record: (entry) => void ledger.write(entry, "batched").catch(() => undefined), now });
  const isPerson = async (name: string): Promise<boolean> => (await store.identity.findPerson(name)) !== undefined;
  const agents = createOauthAgents(store);

  const local = async (): Promise<Principal> => {
    const adopted = await store.meta.get(ADOPTED_KEY);
    return adopted !== undefined && (await isPerson(adopted)) ? toAdopted(adopted) : LOCAL;
  };
  const resolve = async (id: PrincipalId): Promise<Principal | undefined> => {
    const constant = [OPERATOR, LIBRARY].find((one) => one.id === id);
    if (constant) return constant;
    if (id === LOCAL.id) return LOCAL;
    const embedded = findLibraryPrincipal(id);
    if (embedded) return embedded;
    const person = nameOfPerson(id);
    if (person !== undefined) {
      const row = await store.identity.findPerson(person);
      return row && toPerson(row);
    }
    const agent = partsOfAgent(id);
    if (agent) {
      const own = await local();
      return own.id === id ? own : agents.resolve(agent);
    }
    const token = nameOfToken(id);
    return token === undefined ? undefined : tokens.resolve(token);
  };

  const tokens = createTokens(powers, refuse, { isPerson, mayActFor: (name) => agents.mayActFor(name) });
  const sessions = createSessions(powers, refuse, resolve);
  const passwords = options.passwords ?? createPasswords();
  const limit = createLoginLimit({ ...powers, quotas: store.quotas });
  const records = createOauthRecords(powers, seal);
  const clientLogins = createClientLogins({ ...powers, records });
  const pending = createPendings(records);
  const shared = { ...powers, limit, sessions, refuse, find: resolve };
  const ofProviders = { ...shared, vault, meta: store.meta, pending: pending.providers };
  const hasProviders = oauth !== undefined && providers.size > 0;
  const hasPeople = async (): Promise<boolean> => hasProviders || (await store.identity.listPeople()).length > 0;

  return {
    people: createPeople({ ...powers, meta: store.meta }),
    tokens,
    sessions,
    logins: createLogins({ ...shared, passwords }),
    passkeys: createPasskeys({ ...shared, pending: pending.passkeys }),
    ...(hasProviders && { providers: createProviderLogins(providers, { ...ofProviders, egress: oauth.egress }) }),
    clientLogins,
    ...openOauth(oauth, { ...powers, agents, refuse, tokens, hasPeople, records, clientLogins }, seal),
    local,
    resolve,
    personOf: createPersonOf(resolve, local),
    refuse,
    canAuthenticate: async () => {
      if (await hasPeople()) return true;
      return tokens.hasValid();
    },
  };
}

function createPersonOf(resolve: Identity["resolve"], local: Identity["local"]): Identity["personOf"] {
  return async (id) => {
    const { kind, person = kind === "person" ? id : undefined } = (await resolve(id)) ?? { kind: undefined };
    return person === OPERATOR.id ? (await local()).person : person;
  };
}

/** Logins that are under way, of each kind. */
function createPendings(records: Parameters<typeof createPending>[2]) {
  const added = createPending("PasskeyAdded", PASSKEY_SECONDS, records);
  const used = createPending("PasskeyUsed", PASSKEY_SECONDS, records);
  return { providers: createPending("ProviderLogin", LOGIN_SECONDS, records), passkeys: { added, used } };
}

function createPowers(
  { store, ledger, now, random }: IdentityOptions,
  seal: Pick<Seal, "derive">,
  isValid: (id: PrincipalId) => Promise<boolean>,
): IdentityPowers {
  const record: IdentityPowers["record"] = (entry) => ledger.write(entry);
  return {
    store: store.identity,
    record,
    stop: createStop({ store, record, now, isValid }),
    now,
    random,
    createId: () => Buffer.from(random(ID_BYTES)).toString("hex"),
    digestFor: (purpose) => {
      const key = createSecretKey(seal.derive(purpose)); // six times faster than bytes
      return (text) => createHmac("sha256", key).update(text).digest();
    },
  };
}
