/**
 * Mines past calls for rules that ask where practice ends: tools that change something and were never called, and
 * arguments outside of what was seen. Each rule only restricts, and is kept only if the simulator finds that it would
 * have changed no past call. Pure.
 */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, PolicyRule, PolicySettings } from "../../domain/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import { PROFILES } from "./decide.ts";
import { simulate } from "./simulate.ts";
import type { PastCall, Simulation } from "./simulate.ts";

/** A rule as it is written in a rule file. */
export type WrittenRule = JsonObject & { readonly id: string };

interface SuggestInput {
  readonly settings: PolicySettings;
  readonly past: readonly PastCall[];
  /** Addresses of the tools that may change something. */
  readonly tools: readonly string[];
  /** Parses rules as a rule file would. */
  readonly parse: (rules: readonly WrittenRule[]) => readonly PolicyRule[];
}

export interface Suggestion {
  readonly rules: readonly WrittenRule[];
  /** What these rules would have changed. Where the present rules differ from the past does not count. */
  readonly simulation: Simulation;
}

/** Fewer calls of a tool say nothing about its arguments. */
const MIN_CALLS = 3;
/** Up to this many different values are listed one by one. */
const MAX_VALUES = 5;
const MIN_PREFIX = 4;
const MAX_TEXT = 200;

export function suggestRules({ settings, past, tools, parse }: SuggestInput): Suggestion {
  const proposed = [...suggestUnused(past, tools), ...suggestConditions(settings, past)];
  const taken = new Set<string>(settings.rules.map(({ id }) => id));
  const fresh = proposed.filter(({ id }) => !taken.has(id));
  const run = (rules: readonly WrittenRule[]): Simulation =>
    simulate(compilePolicy({ ...settings, rules: [...settings.rules, ...parse(rules)] }), past);
  const before = run([]);
  const rules = fresh.filter((rule) => isHarmless(rule, run([rule]), before));
  return { rules, simulation: onlyBy(new Set(rules.map(({ id }) => id)), run(rules)) };
}

/** Keeps what these rules decide. */
function onlyBy(ids: ReadonlySet<string>, { calls, ...simulation }: Simulation): Simulation {
  const changed = simulation.changed.filter(({ rule }) => ids.has(rule));
  const cannotTell = simulation.cannotTell.filter(({ rules }) => rules.some((rule) => ids.has(rule)));
  const same = [...changed, ...cannotTell].reduce((left, part) => left - part.calls, calls);
  return { calls, same, changed, cannotTell };
}

/** Whether it decides every past call as it was decided, and leaves no more undecided than the present rules do. */
function isHarmless({ id }: WrittenRule, after: Simulation, before: Simulation): boolean {
  return after.same >= before.same && !after.changed.some(({ rule }) => rule === id);
}

/** One rule for each server, so that an operator can take or leave it. */
function suggestUnused(past: readonly PastCall[], tools: readonly string[]): readonly WrittenRule[] {
  const called = new Set(past.map(({ tool }) => tool));
  const unused = tools.filter((tool) => !called.has(tool));
  return [...Map.groupBy(unused, namespaceOf)].map(([server, names]) => ({
    id: `unused-${server}`,
    decision: "ask",
    tools: names.toSorted(),
    reason: "It was not called so far",
  }));
}

/** For tools that change something: one rule for each argument that had few values or one beginning. */
function suggestConditions({ profile }: PolicySettings, past: readonly PastCall[]): readonly WrittenRule[] {
  const allowed = past.filter(({ effect, decision }) => decision === "allow" && effect !== "read");
  return [...Map.groupBy(allowed, ({ tool }) => tool)].flatMap(([tool, calls]) => {
    const [first] = calls;
    const known = calls.flatMap(({ args }) => (isJsonObject(args) ? [args] : []));
    if (!first || PROFILES[profile][first.effect] !== "allow") return [];
    if (calls.length < MIN_CALLS || known.length < calls.length) return [];
    return Object.keys(known[0] ?? {}).flatMap((key): readonly WrittenRule[] => {
      const condition = describeValues(known.map((args) => args[key]));
      if (!condition || !/^[A-Za-z_]\w*$/.test(key)) return [];
      const when = [{ path: key, ...condition, not: true }];
      return [{ id: `usual-${tool}-${key}`.slice(0, 64), decision: "ask", tools: [tool], when, reason: REASON }];
    });
  });
}

const REASON = "Its arguments were different so far";

/** The narrowest condition that all values meet; `undefined` if a value is missing or they have nothing in common. */
function describeValues(values: readonly (Json | undefined)[]): JsonObject | undefined {
  const texts = values.filter((value) => typeof value === "string" && value.length <= MAX_TEXT);
  const numbers = values.filter((value) => typeof value === "number");
  const distinct = [...new Set(values)];
  if (numbers.length === values.length) return { min: Math.min(...numbers), max: Math.max(...numbers) };
  if (texts.length < values.length) return undefined;
  // As many values as calls do not make a habit.
  if (distinct.length <= MAX_VALUES && distinct.length * 2 <= values.length)
    return { oneOf: distinct.filter((value) => value !== undefined) };
  const prefix = commonPrefix(texts.map(String));
  return prefix.length >= MIN_PREFIX ? { prefix } : undefined;
}

/** Ends after a slash if there is one: folders are habits, beginnings of words are not. */
function commonPrefix(texts: readonly string[]): string {
  const [first = "", ...rest] = texts;
  let length = first.length;
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length -= 1;
  const common = first.slice(0, length);
  return common.slice(0, common.lastIndexOf("/") + 1);
}

function namespaceOf(address: string): string {
  return address.slice(0, address.indexOf("."));
}
