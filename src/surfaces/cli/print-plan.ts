/** Prints a call plan: one line for each tool, and whether the list is exact. */

import type { Writable } from "node:stream";

import type { CallPlan } from "../../domain/index.ts";
import type { PlanAnswer } from "../gateway.ts";
import { formatError, printFindings, printLine } from "./print.ts";

/** The plan is on stdout, findings and the cause of a refusal on stderr. */
export function printPlan(answer: PlanAnswer, stdout: Writable, stderr: Writable): void {
  printFindings(answer.findings, stderr);
  if (!answer.ok) return printLine(stderr, formatError(answer.error));
  for (const line of formatPlan(answer.plan)) printLine(stdout, line);
}

/** One line for each tool, and one more if the list is not exact or empty. */
export function formatPlan({ exact, calls }: CallPlan): readonly string[] {
  const lines = calls.map(formatCall);
  if (!exact) return [...lines, "and possibly any other tool: the program computes which tools it calls"];
  return lines.length === 0 ? ["no tool"] : lines;
}

function formatCall({ tool, effect, access, times, when, args = [], at }: CallPlan["calls"][number]): string {
  const places = at.map(({ line, column }) => `${line}:${column}`).join(", ");
  const told = [
    effect,
    times === "once" ? "once" : "possibly many times",
    when,
    ...(access === "computed" ? ["computed"] : []),
  ];
  const given = args.map((each) => ` ${JSON.stringify(each)}`).join("");
  return `${tool} (${told.join(", ")}) at ${places}${given}`;
}
