/** Steps that decide about a call: by rules and labels first, then by a person where a rule asks for approval. */

import { GloveboxError } from "../../domain/index.ts";
import type { Decision, Tool } from "../../domain/index.ts";
import { isFlowRule, pickStricter } from "../../policy/index.ts";

import { ALLOWED_BUILTIN } from "../builtin.ts";
import type { AskDecision, BridgeOptions, Crossing } from "../crossing.ts";

export function decide(crossing: Crossing): void {
  const { bridge, seq, tool, call, target, entry } = crossing;
  const { options, dryRun } = bridge;
  const arrival = (crossing.arrival = options.flow?.arrive());
  const decideAgain = (): Decision => {
    const usual = target.answer && !target.judge ? ALLOWED_BUILTIN : options.decide(call, tool);
    return pickStricter(usual, arrival?.judge(call, tool));
  };
  const decided = decideAgain();
  // A call that waited for approval in an earlier run still needs it, whatever the rules are now; a deny is stronger.
  const decision = decided.kind === "deny" ? decided : (options.asked?.get(seq) ?? decided);
  entry.decision = decision.kind;
  if (decision.kind === "allow") arrival?.leave();
  crossing.isSkipped = entry.isSkipped = dryRun?.skips(tool, decision) ?? false;
  crossing.verdict = { decision, decideAgain, isPlainRead: decision.kind === "allow" && tool.effect === "read" };
}

export function approve(crossing: Crossing): Promise<void> | undefined {
  const { bridge, tool, verdict } = crossing;
  const { decision } = verdict;
  const { approve: ask } = bridge.options;
  if (decision.kind === "ask" && ask) return waitForApproval(crossing, decision, ask);
  refuseUnlessAllowed(decision, tool);
  return undefined;
}

/**
 * Decides again after every approval: what is denied by then stays denied, and another rule that asks needs an approval
 * of its own. A waiting call gives its slot to others.
 */
async function waitForApproval(
  { bridge, call, tool, verdict, intent, arrival }: Crossing,
  decision: AskDecision,
  ask: NonNullable<BridgeOptions["approve"]>,
): Promise<void> {
  const { slots, recorder } = bridge;
  const approved = new Set<Decision["rule"]>();
  for (let asked = decision; ;) {
    slots.leave();
    const approval = await ask(call, tool, asked).finally(() => slots.enter());
    approved.add(asked.rule);
    const now = verdict.decideAgain();
    if (now.kind === "deny") return refuseUnlessAllowed(now, tool);
    if (now.kind === "allow" || approved.has(now.rule)) {
      arrival?.leave();
      const allowed = { ...intent, decision: "allow", rule: now.rule, approval };
      return void (await recorder.record("flushed", "call.intended", tool.address, allowed));
    }
    asked = now;
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

/** A rule cannot loosen the data-flow guard: an operator who disagrees with a label changes the label. */
function hintFor({ rule }: Decision, tool: Tool): string {
  return isFlowRule(rule)
    ? "An operator can change what counts as private, untrusted or external with policy.labels"
    : `An operator can allow it with a policy rule for ${tool.address}`;
}
