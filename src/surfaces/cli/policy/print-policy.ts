/** Prints explanations and simulations of policy. */

import type { Writable } from "node:stream";

import type { explain, simulate } from "../../../policy/index.ts";
import { printLine } from "../print.ts";

/** The decision first, then every rule, those that match before the others. */
export function printExplanation(
  { subject, explanation }: { readonly subject: string; readonly explanation: ReturnType<typeof explain> },
  stdout: Writable,
): void {
  const { decision, rules } = explanation;
  printLine(stdout, `${decision.kind}: ${subject}`);
  printLine(stdout, `  decided by ${decision.rule}`);
  if (decision.kind !== "allow") printLine(stdout, `  ${decision.reason}`);
  for (const { rule, decision: kind, matches, why } of rules.toSorted(
    (a, b) => Number(b.matches) - Number(a.matches),
  )) {
    printLine(stdout, `  ${matches ? "matches" : "does not match"}  ${rule} (${kind}): ${why}`);
  }
}

export function printSimulation(
  { calls, same, changed, cannotTell }: ReturnType<typeof simulate>,
  stdout: Writable,
): void {
  const count = (parts: readonly { readonly calls: number }[]): number =>
    parts.reduce((sum, part) => sum + part.calls, 0);
  printLine(
    stdout,
    `${calls} calls: ${same} as before, ${count(changed)} changed, ${count(cannotTell)} undecided without their arguments`,
  );
  for (const { principal, tool, from, to, rule, calls: times } of changed) {
    printLine(stdout, `  ${from} -> ${to}  ${tool} by ${principal}, ${times} calls, ${rule}`);
  }
  for (const { principal, tool, from, rules, calls: times } of cannotTell) {
    printLine(stdout, `  ${from} -> ?  ${tool} by ${principal}, ${times} calls, depends on ${rules.join(", ")}`);
  }
}
