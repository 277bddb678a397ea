/** Decides about one call by the labels of what was read before it. Pure functions. */

import { canonicalJson } from "../../domain/index.ts";
import type { CallPlan, CatalogSnapshot, Decision, Label, LabelSource, Tool, ToolCall } from "../../domain/index.ts";

import { FLOW_RULE } from "../decision.ts";

/** Returns `undefined` if the guard does not apply. Ignores arguments: any of them may contain what was read. */
export function judgeFlow({
  tool,
  taken,
  mode,
}: {
  readonly tool: Tool;
  /** What had been delivered to the program when it made the call: for each label, its first source. */
  readonly taken: ReadonlyMap<LabelSource["label"], LabelSource>;
  /** The decision about a call that completes the flow. */
  readonly mode: Decision["kind"];
}): Decision | undefined {
  const secret = taken.get("private");
  const untrusted = taken.get("untrusted");
  if (!secret || !untrusted || !tool.labels?.includes("external")) return undefined;
  const flow = [secret, untrusted];
  if (mode === "allow") return { kind: mode, rule: FLOW_RULE, flow };
  const verb = mode === "ask" ? "needs approval" : "is denied";
  const reason =
    `${tool.address} ${verb}, rule ${FLOW_RULE}: it sends data out, after ${describeSource(secret)} and ` +
    `${describeSource(untrusted)}; return what you found instead, or ask the operator`;
  return { kind: mode, rule: FLOW_RULE, reason, flow };
}

function describeSource({ label, tool, execution, seq }: LabelSource): string {
  const what = label === "private" ? "private data" : "untrusted content";
  return `${tool} (call ${seq} of ${execution}) returned ${what}`;
}

/**
 * Returns true if the call is one of those that the program begins with, whatever it reads, and all calls that send data
 * are among them. A constant call that comes later is not exempt: code before it can fail, wait or end the program, and
 * so tell what was read by whether and when the call is made. Once the first was made, only a failure can prevent the
 * next ones. So none of the calls between them may return private data: whether such a call fails could tell something
 * about it.
 */
export function isStartCall(call: ToolCall, plan: CallPlan | undefined, { tools }: CatalogSnapshot): boolean {
  if (!plan?.exact || !plan.start) return false;
  const hasLabel = (tool: ToolCall["address"], label: Label): boolean =>
    tools.get(tool)?.labels?.includes(label) ?? false;
  const sending = plan.calls.filter(({ tool }) => hasLabel(tool, "external"));
  if (sending.some(({ access, at }) => access !== "literal" || at.length >= MAX_SITES)) return false;
  const isSending = plan.start.map(({ tool }) => hasLabel(tool, "external"));
  const sites = sending.reduce((sum, { at }) => sum + at.length, 0);
  if (sites !== isSending.filter(Boolean).length) return false;
  const between = plan.start.slice(isSending.indexOf(true), isSending.lastIndexOf(true));
  if (between.some(({ tool }) => hasLabel(tool, "private"))) return false;
  // The calls of a program are numbered as they are made, from 1.
  const planned = plan.start[call.seq - 1];
  return planned?.tool === call.address && canonicalJson(planned.args) === canonicalJson(call.args);
}

/** A plan lists at most this many places of one tool. */
const MAX_SITES = 20;
