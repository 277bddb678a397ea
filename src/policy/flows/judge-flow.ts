/** Decides about one call by the labels of what was read before it. Pure functions. */

import { canonicalJson } from "../../domain/index.ts";
import type { CallPlan, CatalogSnapshot, Decision, LabelSource, Tool, ToolCall } from "../../domain/index.ts";

import { createRuleId } from "../decision.ts";

const FLOW_RULE = createRuleId("flow:private+untrusted>external");

/** Returns true for the rule of the data-flow guard, which no policy rule can loosen. */
export function isFlowRule(rule: string): boolean {
  return rule === FLOW_RULE;
}

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
 * Returns true if a call cannot contain anything that was read: the source has a single call that sends data, outside of
 * every condition, loop and callback, with exactly these literal arguments. With two such calls, which one runs would
 * leak information.
 */
export function isLiteralCall(call: ToolCall, plan: CallPlan | undefined, { tools }: CatalogSnapshot): boolean {
  if (!plan?.exact) return false;
  const [only, ...others] = plan.calls.filter(({ tool }) => tools.get(tool)?.labels?.includes("external"));
  if (!only || others.length > 0 || only.tool !== call.address) return false;
  if (only.access !== "literal" || only.times !== "once" || only.when !== "always" || only.at.length !== 1)
    return false;
  return canonicalJson(call.args) === canonicalJson(only.args?.[0] ?? {});
}
