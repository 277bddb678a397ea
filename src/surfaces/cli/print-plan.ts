/** A call plan for a person: one line for each tool, and how sure the list is. */

import type { Writable } from "node:stream";

import type { CallPlan } from "../../domain/index.ts";
import type { PlanAnswer } from "../gateway.ts";
import { formatError, printFindings, printLine } from "./print.ts";

/** The plan goes to stdout, findings and the reason of a refusal to stderr. */
export function printPlan(answer: PlanAnswer, stdout: Writable, stderr: Writable): void {
  printFindings(answer.findings, stderr);
  if (!answer.ok) return printLine(stderr, formatError(answer.error));
  for (const line of formatPlan(answer.plan)) printLine(stdout, line);
}

/** One line for each tool, and one more when there may be others or none. */
export function formatPlan({ exact, calls }: CallPlan): readonly string[] {
  const lines = calls.map(formatCall);
  if (!exact)
    return [...lines, "and perhaps any other tool: the program reaches tools in a way that its text does not fix"];
  return lines.length === 0 ? ["no tool"] : lines;
}

function formatCall({ tool, effect, access, times, when, args = [], at }: CallPlan["calls"][number]): string {
  const places = at.map(({ line, column }) => `${line}:${column}`).join(", ");
  const told = [
    effect,
    times === "once" ? "once" : "perhaps many times",
    when,
    ...(access === "computed" ? ["computed"] : []),
  ];
  const given = args.map((each) => ` ${JSON.stringify(each)}`).join("");
  return `${tool} (${told.join(", ")}) at ${places}${given}`;
}
