/** Decides about one call with what was read before it. Pure. */

import { canonicalJson } from "../../domain/index.ts";
import type {
  CallPlan,
  CatalogSnapshot,
  Decision,
  LabelSource,
  PolicyRule,
  Tool,
  ToolCall,
} from "../../domain/index.ts";

/** What was read, by label: the first call that brought it. */
export type ReadLabels = ReadonlyMap<LabelSource["label"], LabelSource>;

/** Everything that the decision depends on. */
export interface FlowInput {
  readonly tool: Tool;
  /** What had been delivered when the call was made. */
  readonly taken: ReadLabels;
  /** What happens to a call that completes the flow. */
  readonly mode: Decision["kind"];
}

const FLOW_RULE = "flow:private+untrusted>external";

/** Whether the guard made a decision, which no rule of the policy can loosen. */
export function isFlowRule(rule: string): boolean {
  return rule === FLOW_RULE;
}

/** `undefined` when the guard has nothing to say. Arguments are not looked at: what was read may be in any of them. */
export function judgeFlow({ tool, taken, mode }: FlowInput): Decision | undefined {
  const secret = taken.get("private");
  const strange = taken.get("untrusted");
  if (!secret || !strange || !tool.labels?.includes("external")) return undefined;
  const rule = FLOW_RULE as PolicyRule["id"]; // our own words, never data
  const flow = [secret, strange];
  if (mode === "allow") return { kind: mode, rule, flow };
  const verb = mode === "ask" ? "needs approval" : "is denied";
  const reason =
    `${tool.address} ${verb}, rule ${rule}: it sends data out, after ${describeSource(secret)} and ` +
    `${describeSource(strange)}; return what you found instead, or ask the operator`;
  return { kind: mode, rule, reason, flow };
}

function describeSource({ label, tool, execution, seq }: LabelSource): string {
  const what = label === "private" ? "private data" : "text written by strangers";
  return `${tool} (call ${seq} of ${execution}) brought ${what}`;
}

/**
 * Whether nothing that was read can be in a call: the program's text has a single place from which anything can be sent
 * out, outside of every condition, loop and callback, and these arguments stand there word for word. With a second
 * place a program could choose between them, and the choice would carry what it has read.
 */
export function isLiteralCall(call: ToolCall, plan: CallPlan | undefined, { tools }: CatalogSnapshot): boolean {
  if (!plan?.exact) return false;
  const [only, ...others] = plan.calls.filter(({ tool }) => tools.get(tool)?.labels?.includes("external"));
  if (!only || others.length > 0 || only.tool !== call.address) return false;
  if (only.access !== "literal" || only.times !== "once" || only.when !== "always" || only.at.length !== 1)
    return false;
  return canonicalJson(call.args) === canonicalJson(only.args?.[0] ?? {});
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Whether the first lets less through than the second. */
export function isStricter(one: Decision["kind"], other: Decision["kind"]): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/** The stricter of two; of two that are equally strict the guard's, which says more. */
export function pickStricter(usual: Decision, guard: Decision | undefined): Decision {
  return guard && STRICTNESS[guard.kind] >= STRICTNESS[usual.kind] ? guard : usual;
}
