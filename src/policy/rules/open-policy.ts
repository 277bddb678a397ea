/**
 * The policy that is in force. Rules of a file may change while the gateway runs: good ones take over once the change
 * is in the ledger, bad ones change nothing.
 */

import { digestOf } from "../../text/index.ts";
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

/** Decides by the rules of the moment. Closing it only stops the looking. */
export interface Policy extends AsyncDisposable {
  decide(question: DecisionInput): Decision;
  /** The same object for the same snapshot and principal, until the rules change. */
  view(snapshot: CatalogSnapshot, principal: Principal): CatalogSnapshot;
  /** What is in force now. */
  current(): CompiledPolicy;
  /** Looks at the rule file at once. Never rejects for what stands in it. */
  refresh(): Promise<void>;
  /** Hears that other rules are in force. Returns the way to stop listening. */
  onChange(listener: () => void): () => void;
}

export interface PolicyOptions {
  readonly settings: PolicySettings;
  readonly file?: RuleFile;
  readonly everyMs: number;
  readonly record: (entry: LedgerEntry) => Promise<unknown>;
  readonly meta: Pick<Store["meta"], "get" | "set">;
  /** Tells the operator about a rule file that was refused. */
  readonly warn: (thrown: unknown) => void;
}

/** Where the digest of the rules that were last in force is kept: it shows changes between two starts. */
const KEY = "policy.digest";

/** Rejects with CONFIG_INVALID when the rule file is wrong: at the start there are no older rules to keep. */
export async function openPolicy(options: PolicyOptions): Promise<Policy> {
  const { settings, file, everyMs } = options;
  const merge = (rules: readonly PolicyRule[]): CompiledPolicy =>
    compilePolicy({ ...settings, rules: [...settings.rules, ...rules] });
  let current = merge((await file?.read()) ?? []);
  await announce(current, options);
  const listeners = new Set<() => void>();
  let views = createViews(current);
  let waiting: CompiledPolicy | undefined;

  const look = async (): Promise<void> => {
    try {
      const rules = await file?.read();
      if (rules) waiting = merge(rules);
    } catch (thrown) {
      await reject(thrown, options);
      return;
    }
    if (!waiting) return;
    await announce(waiting, options); // without a record the old rules stay, and the next look tries again
    current = waiting;
    waiting = undefined;
    views = createViews(current);
    for (const listener of listeners) listener();
  };
  let looking = Promise.resolve();
  const refresh = (): Promise<void> => (looking = looking.then(look).catch(options.warn));
  const timer = file && setInterval(() => void refresh(), everyMs);
  timer?.unref();
  return {
    decide: (question) => decide(current, question),
    view: (snapshot, principal) => views(snapshot, principal),
    current: () => current,
    refresh,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** Written down before it counts; a digest that is known already, also from another process, is no change. */
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

/** Over everything that a decision depends on beside the call. */
export function digestPolicy({ profile, rules, groups, effects }: PolicySettings): Digest {
  const plain: Json = JSON.parse(JSON.stringify({ profile, rules, groups: [...groups], effects: [...effects] }));
  return digestOf(plain);
}

/** Principals whose views of one snapshot are kept. */
const MAX_VIEWS = 64;

function createViews(policy: CompiledPolicy): Policy["view"] {
  const made = new WeakMap<CatalogSnapshot, Map<string, CatalogSnapshot>>();
  return (snapshot, principal) => {
    const views = made.get(snapshot) ?? new Map<string, CatalogSnapshot>();
    made.set(snapshot, views);
    const key = JSON.stringify([principal.id, principal.groups]);
    const view = views.get(key) ?? viewSnapshot(policy, snapshot, principal);
    if (views.size >= MAX_VIEWS) views.clear();
    views.set(key, view);
    return view;
  };
}
