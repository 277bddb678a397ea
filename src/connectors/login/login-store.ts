/** Stores logins in the vault, each under a name derived from upstream, issuer and resource. */

import { GloveboxError, isJsonObject, parseSecretName } from "../../domain/index.ts";
import type { ConnectorId, SecretName } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import type { Secret, Vault } from "../../vault/index.ts";

import type { DurableValues } from "../connector.ts";
import type { Lease } from "./hold-lease.ts";
import { parseLoginText, toLoginText } from "./login.ts";
import type { Login, LoginKey, LoginStore } from "./login.ts";

export interface LoginStoreOptions {
  readonly values: DurableValues;
  readonly vault: Pick<Vault, "lend" | "set" | "remove">;
  readonly holdLease: Lease;
  /** Called with every token that is read or stored, so that it can be masked wherever it would be shown. */
  readonly onToken: (token: Secret) => void;
}

/** The key of an upstream's login is not secret and is stored beside the vault; the login itself is in the vault. */
export function createLoginStore({ values, vault, holdLease, onToken }: LoginStoreOptions): LoginStore {
  const reportTokens = (login: Login | undefined): void => {
    for (const token of [login?.access, login?.refresh, login?.client.secret]) if (token) onToken(token);
  };
  const findKey = async (upstream: ConnectorId): Promise<LoginKey | undefined> =>
    parseKey(upstream, await values.get(toValueKey(upstream)));
  return {
    async find(upstream) {
      const key = await findKey(upstream);
      if (!key) return undefined;
      const text = await lendIfSet(vault, toSecretName(key), `login of upstream ${upstream}`);
      const login = text && parseLoginText(text, key);
      reportTokens(login);
      return login;
    },
    async keep(login, actor) {
      reportTokens(login);
      const { upstream, issuer, resource } = login;
      await vault.set(toSecretName(login), toLoginText(login), actor);
      await values.set(toValueKey(upstream), JSON.stringify({ issuer, resource }));
    },
    async drop(upstream, actor) {
      const key = await findKey(upstream);
      if (!key) return false;
      await values.erase(toValueKey(upstream));
      return vault.remove(toSecretName(key), actor);
    },
    alone: (upstream, work) => holdLease(toValueKey(upstream), work),
  };
}

/** A login that was removed as a secret, or cannot be opened, counts as missing: the remedy is to log in again. */
async function lendIfSet(vault: Pick<Vault, "lend">, name: SecretName, purpose: string): Promise<Secret | undefined> {
  try {
    return await vault.lend(name, purpose);
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "VAULT_SECRET_MISSING") return undefined;
    throw thrown;
  }
}

function toValueKey(upstream: ConnectorId): string {
  return `login:${upstream}`;
}

/** The vault binds a value to its name, so a login that is moved to another issuer, resource or upstream does not open. */
function toSecretName({ upstream, issuer, resource }: LoginKey): SecretName {
  const digest = digestOf(JSON.stringify([upstream, issuer, resource])).replace("sha256:", "");
  const name = parseSecretName(`oauth_${digest}`);
  if (!name) throw new TypeError("A digest is always a valid secret name");
  return name;
}

function parseKey(upstream: ConnectorId, text: string | undefined): LoginKey | undefined {
  if (text === undefined) return undefined;
  const raw: unknown = JSON.parse(text);
  if (!isJsonObject(raw)) return undefined;
  const { issuer, resource } = raw;
  return typeof issuer === "string" && typeof resource === "string" ? { upstream, issuer, resource } : undefined;
}
