/** Everything about secrets but their values: which are set or missing, what refers to them, and who used one last. */

import { defined, isJsonObject, parseSecretName } from "../domain/index.ts";
import type { Instant, Json, SecretGrants, SecretName } from "../domain/index.ts";
import type { LedgerReader } from "../ledger/index.ts";
import type { Vault } from "../vault/index.ts";

export interface DescribedSecret {
  readonly name: SecretName;
  /** Counts how often it was set; absent for one that the settings refer to and that is not set. */
  readonly version?: number;
  readonly setAt?: Instant;
  /** The settings that refer to it, such as `mcpServers.github.headers.Authorization`. */
  readonly usedBy: readonly string[];
  /** Where programs may send it; absent for one that programs cannot use. */
  readonly boundTo?: {
    readonly hosts: readonly string[];
    readonly places: readonly string[];
    /** Empty for all. */
    readonly principals: readonly string[];
  };
  /** As far as the latest records of loans tell. */
  readonly lastUse?: { readonly at: Instant; readonly by: string; readonly purpose?: string };
}

/** What sections are called in a configuration, where settings have another name. */
const WRITTEN: Readonly<Record<string, string>> = { upstreams: "mcpServers", apis: "openapi" };
/** Records of loans that are read. */
const LOANS = 2_000;

/** Sorted by name. `settings` is searched for references as it is. */
export async function describeSecrets(
  settings: { readonly sandbox: { readonly secrets: SecretGrants } },
  vault: Pick<Vault, "list">,
  ledger?: Pick<LedgerReader, "search">,
): Promise<readonly DescribedSecret[]> {
  const { secrets: grants } = settings.sandbox;
  const set = new Map((await vault.list()).map((one) => [one.name, one]));
  const uses = findSecretUses(settings);
  const loans = (await ledger?.search({ action: "secret.lent", limit: LOANS })) ?? [];
  const names = new Set([...set.keys(), ...uses.keys(), ...grants.keys()]);
  return [...names].toSorted().map((name) => {
    const { version, setAt } = set.get(name) ?? {};
    const grant = grants.get(name);
    const boundTo = grant && {
      hosts: grant.hosts.map(({ written }) => written),
      places: grant.places,
      principals: grant.principals,
    };
    const loan = loans.find(({ subject }) => subject === name);
    return {
      name,
      usedBy: uses.get(name) ?? [],
      ...defined({ version, setAt, boundTo, lastUse: loan && toUse(loan) }),
    };
  });
}

function toUse(record: Readonly<Record<string, Json>>): DescribedSecret["lastUse"] {
  const { at, actor, detail } = record;
  if (typeof at !== "number" || typeof actor !== "string") return undefined;
  const purpose = isJsonObject(detail) && typeof detail["purpose"] === "string" ? detail["purpose"] : undefined;
  return { at, by: actor, ...defined({ purpose }) };
}

/** The places of `${secret:NAME}` in settings, by name: templates are the only objects there with just a secret. */
export function findSecretUses(settings: unknown): ReadonlyMap<SecretName, readonly string[]> {
  const found = new Map<SecretName, string[]>();
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null) return;
    if (value instanceof Map) {
      for (const [key, one] of value) walk(one, [...path, String(key)]);
      return;
    }
    if (Array.isArray(value)) {
      const isTemplate = value.some((one) => secretOf(one) !== undefined);
      for (const [index, one] of value.entries()) walk(one, isTemplate ? path : [...path, String(index)]);
      return;
    }
    const name = secretOf(value);
    if (name === undefined) for (const [key, one] of Object.entries(value)) walk(one, [...path, WRITTEN[key] ?? key]);
    else if (found.get(name)?.includes(path.join(".")) !== true)
      found.set(name, [...(found.get(name) ?? []), path.join(".")]);
  };
  walk(settings, []);
  return found;
}

function secretOf(value: unknown): SecretName | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "secret") return undefined;
  return "secret" in value ? parseSecretName(value.secret) : undefined;
}
