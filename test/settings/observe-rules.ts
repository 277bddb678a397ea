/**
 * What the severity of each analysis rule changes. Two gateways run the programs of all rules, each rule with one of its
 * two severities: no program has a finding of another rule.
 */

import { compare, findingsOf, outcomeOf, shareGlovebox } from "../fixtures/observe-settings.ts";
import type { Case } from "../fixtures/observe-settings.ts";

interface RuleCase {
  readonly code: string;
  /** A severity, and the outcome of the program with it. */
  readonly one: Case;
  readonly other: Case;
}

const FORBIDDEN = "PROGRAM_FORBIDDEN";

/** Keyed by rule. */
const RULES: Readonly<Record<string, RuleCase>> = {
  "no-dynamic-import": {
    code: 'return await import("x").then(() => "found", () => "not found")',
    one: ["error", FORBIDDEN],
    other: ["off", "not found"],
  },
  "no-eval": {
    code: 'try { return eval("1 + 1") } catch { return "refused" }',
    one: ["error", FORBIDDEN],
    other: ["off", "refused"],
  },
  "no-external-import": {
    code: 'import x from "x"; return 1',
    one: ["error", FORBIDDEN],
    other: ["off", "PROGRAM_FORBIDDEN"],
  },
  "no-invisible-characters": {
    code: 'return "a\u200bb".length',
    one: ["error", FORBIDDEN],
    other: ["warn", 3],
  },
  "no-dangerous-globals": {
    code: 'try { return process.pid } catch { return "none" }',
    one: ["error", FORBIDDEN],
    other: ["off", "none"],
  },
  "no-prototype-pollution": {
    code: "const a = {}; a.__proto__ = { b: 1 }; return a.b",
    one: ["error", FORBIDDEN],
    other: ["off", 1],
  },
  "no-infinite-loop": {
    code: "if (false) for (;;); return 1",
    one: ["error", FORBIDDEN],
    other: ["off", 1],
  },
  "no-nested-loops": {
    code: "for (const a of [[1]]) for (const b of a) return b",
    one: ["error", FORBIDDEN],
    other: ["off", 1],
  },
  "no-tool-in-loop": {
    code: "for (const a of []) await probe.echo(a); return 1",
    one: ["warn", 1],
    other: ["off", 1],
  },
  "no-unhandled-async": {
    code: "[].forEach(async () => {}); return 1",
    one: ["warn", 1],
    other: ["off", 1],
  },
  "max-source-size": {
    code: `return "${"x".repeat(70_000)}".length`,
    one: ["error", FORBIDDEN],
    other: ["warn", 70_000],
  },
  "no-unawaited-call": {
    code: "probe.echo({}); return 1",
    one: ["warn", 1],
    other: ["off", 1],
  },
};

const SIDES = ["one", "other"] as const;

const open = Object.fromEntries(
  SIDES.map((side) => {
    const rules = Object.fromEntries(Object.entries(RULES).map(([name, found]) => [name, found[side][0]]));
    return [side, shareGlovebox(() => ({ analysis: { rules } }))];
  }),
);

/** The outcome, and every finding with its rule and its severity. */
function expect(rule: string, [severity, outcome]: Case): unknown {
  return [outcome, severity === "off" ? [] : [[rule, severity]]];
}

/** Keyed by setting path. */
export const RULE_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = Object.fromEntries(
  Object.entries(RULES).map(([rule, { code, one, other }]) => [
    `analysis.rules.${rule}`,
    compare(
      async (side) => {
        const glovebox = await open[String(side)]?.();
        const result = await glovebox?.execute({ code });
        return result && [outcomeOf(result), findingsOf(result)];
      },
      ["one", expect(rule, one)],
      ["other", expect(rule, other)],
    ),
  ]),
);
