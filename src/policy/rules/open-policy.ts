/** The policy in force. Changed rules take effect once the ledger has the change; invalid ones change nothing. */

import { digestOf } from "../../text/index.ts";
import { pollEvery } from "../../timing/index.ts";
import type { LedgerEntry } from "../../ledger/index.ts";
import type {
  CatalogSnapshot,
  Decision,
  Digest,
  Json,
  PolicyRule,
  PolicySettings,
  Principal,
  RuleFile,
} from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { decide } from "./decide.ts";
import type { DecisionInput } from "./decide.ts";
import { viewSnapshot } from "./view-snapshot.ts";

/** Decides by the current rules. Closing it only stops polling the file. */
export interface Policy extends AsyncDisposable {
  decide(input: DecisionInput): Decision;
  /** Returns the same object for the same snapshot and principal until the rules change. */
  view(snapshot: CatalogSnapshot, principal: Principal): CatalogSnapshot;
  current(): CompiledPolicy;
  /** Why the rule file is not in force: it cannot be read or is invalid, and the rules before it still apply. */
  problem(): unknown;
  /** Reads the rule file at once. Does not reject for invalid rules. */
  refresh(): Promise<void>;
  /** Calls `listener` after the rules change. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

export interface PolicyOptions {
  readonly settings: PolicySettings;
  readonly file?: RuleFile;
  readonly everyMs: number;
  readonly record: (entry: LedgerEntry) => Promise<unknown>;
  readonly meta: Pick<Store["meta"], "get" | "set">;
  readonly warn: (thrown: unknown) => void;
}

/** The key of the digest of the last rules in force. Reveals changes between two starts. */
const KEY = "policy.digest";

/** Rejects with CONFIG_INVALID if the rule file is invalid, because older rules do not exist at the start. */
export async function openPolicy(options: PolicyOptions): Promise<Policy> {
  const { settings, file, everyMs } = options;
  const merge = (rules: readonly PolicyRule[]): CompiledPolicy =>
    compilePolicy({ ...settings, rules: [...settings.rules, ...rules] });
  let current = merge((await file?.read()) ?? []);
  await announce(current, options);
  const listeners = new Set<() => void>();
  let views = createViews(current);
  let waiting: CompiledPolicy | undefined;
  let problem: unknown;

  const reload = async (): Promise<void> => {
    try {
      const rules = await file?.read();
      if (rules) [waiting, problem] = [merge(rules), undefined];
    } catch (thrown) {
      problem = thrown;
      await reject(thrown, options);
      return;
    }
    if (!waiting) return;
    await announce(waiting, options); // if that fails, the old rules stay and the next poll retries
    current = waiting;
    waiting = undefined;
    views = createViews(current);
    for (const listener of listeners) listener();
  };
  let running = Promise.resolve();
  const refresh = (): Promise<void> => (running = running.then(reload).catch(options.warn));
  const polling = file && pollEvery(everyMs, refresh);
  return {
    decide: (input) => decide(current, input),
    view: (snapshot, principal) => views(snapshot, principal),
    current: () => current,
    problem: () => problem,
    refresh,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      await polling?.[Symbol.asyncDispose]();
      await running;
    },
  };
}

/** Records the change before it takes effect. A digest that is already stored is not a change. */
async function announce({ settings }: CompiledPolicy, { record, meta }: PolicyOptions): Promise<void> {
  const after = digestPolicy(settings);
  const before = await meta.get(KEY);
  if (before === after) return;
  const detail = { before: before ?? null, after, profile: settings.profile, rules: settings.rules.length };
  if (before !== undefined) await record({ actor: "operator", action: "policy.changed", subject: "policy", detail });
  await meta.set(KEY, after);
}

async function reject(thrown: unknown, { file, record, warn }: PolicyOptions): Promise<void> {
  warn(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const detail = { message: message.slice(0, MESSAGE_CHARS).toWellFormed() };
  await record({ actor: "operator", action: "policy.rejected", subject: file?.path ?? "policy", detail });
}

const MESSAGE_CHARS = 1000;

/** Covers everything that a decision depends on besides the call. */
export function digestPolicy({ profile, rules, groups, effects }: PolicySettings): Digest {
  const plain: Json = JSON.parse(JSON.stringify({ profile, rules, groups: [...groups], effects: [...effects] }));
  return digestOf(plain);
}

const MAX_VIEWS = 64;

function createViews(policy: CompiledPolicy): Policy["view"] {
  const cached = new WeakMap<CatalogSnapshot, Map<string, CatalogSnapshot>>();
  return (snapshot, principal) => {
    const views = cached.get(snapshot) ?? new Map<string, CatalogSnapshot>();
    cached.set(snapshot, views);
    const key = JSON.stringify([principal.id, principal.aliases, principal.groups, principal.access]);
    const view = views.get(key) ?? viewSnapshot(policy, snapshot, principal);
    if (views.size >= MAX_VIEWS) views.clear();
    views.set(key, view);
    return view;
  };
}
