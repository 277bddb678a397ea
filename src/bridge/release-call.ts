/** Between deciding and calling: a call that needs a person waits here, and everything else passes or is refused. */

import { GloveboxError } from "../domain/index.ts";
import type { ApprovalId, Decision, PolicyRule, Tool, ToolCall } from "../domain/index.ts";
import { isFlowRule } from "../policy/index.ts";

import type { Slots } from "./slots.ts";

/** A decision that a person has to make. */
export type AskDecision = Extract<Decision, { kind: "ask" }>;

/** The execution is put away while a call waits for a person: the call has no end yet. */
export class ExecutionSuspended extends Error {
  override readonly name = "ExecutionSuspended";
}

/** A call that was decided about, and how to decide anew by the rules and labels of that moment. */
export interface Judged {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly decision: Decision;
  readonly decide: () => Decision;
}

/** Questions of an earlier run of the program bind its call, whatever the rules have become since; a deny binds more. */
export function bindToApproval(decision: Decision, asked: AskDecision | undefined): Decision {
  return asked && decision.kind !== "deny" ? asked : decision;
}

export interface ReleaseOptions {
  /** Answers with the approval's id once a person has said yes. Left out, such calls are refused at once. */
  readonly approve?: ((call: ToolCall, tool: Tool, decision: AskDecision) => Promise<ApprovalId>) | undefined;
  readonly slots: Slots;
  /** Writes down that a call leaves which a person allowed. */
  readonly note: (allowed: Pick<Decision, "rule">, approval: ApprovalId) => Promise<unknown>;
}

/**
 * Rules are asked again after a person: whatever they deny by then stays denied, and another rule that asks by then is
 * another question.
 */
export async function releaseCall(judged: Judged, { approve, slots, note }: ReleaseOptions): Promise<void> {
  const { call, tool, decision, decide } = judged;
  if (decision.kind !== "ask" || !approve) return refuseUnlessAllowed(decision, tool);
  const answered = new Set<PolicyRule["id"]>();
  for (let asking: AskDecision = decision; ;) {
    slots.leave(); // who waits for a person must not hold up the others
    const approval = await approve(call, tool, asking).finally(() => slots.enter());
    answered.add(asking.rule);
    const now = decide();
    if (now.kind === "deny") return refuseUnlessAllowed(now, tool);
    if (now.kind === "allow" || answered.has(now.rule)) return void (await note(now, approval));
    asking = now;
  }
}

function refuseUnlessAllowed(decision: Decision, tool: Tool): void {
  switch (decision.kind) {
    case "allow":
      return;
    case "ask":
      throw new GloveboxError("POLICY_APPROVAL_PENDING", decision.reason, { hint: hintFor(decision, tool) });
    case "deny":
      throw new GloveboxError("POLICY_DENIED", decision.reason);
    default:
      decision satisfies never;
  }
}

/** No rule loosens the data-flow guard: who disagrees with a label changes the label. */
function hintFor({ rule }: Decision, tool: Tool): string {
  return isFlowRule(rule)
    ? "An operator can change what counts as private, untrusted or external with policy.labels"
    : `An operator can allow it with a policy rule for ${tool.address}`;
}
