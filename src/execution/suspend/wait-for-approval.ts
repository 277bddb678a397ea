/** Holds a call until a person has decided about it; then it continues, or fails with the decision. */

import { ExecutionSuspended } from "../../bridge/index.ts";
import type { AskDecision } from "../../bridge/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type {
  Approval,
  ApprovalId,
  ApprovalRequests,
  CallPlan,
  ExecutionEvent,
  LabelSource,
  Tool,
  ToolCall,
} from "../../domain/index.ts";

import type { SuspensionDetector } from "./detect-suspension.ts";

export interface ApprovalWaitOptions {
  readonly approvals: ApprovalRequests;
  readonly session?: string;
  /** What the program's session has read. */
  readonly labels: () => readonly LabelSource[];
  /** What the program can call, for the person who reviews one of its calls. */
  readonly plan: () => CallPlan | undefined;
  readonly suspension: SuspensionDetector;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
  readonly onEvent?: (event: ExecutionEvent) => void;
}

export interface ApprovalWait {
  /** The approval step of the bridge. */
  readonly approve: (call: ToolCall, tool: Tool, decision: AskDecision) => Promise<ApprovalId>;
  /** The approvals that it waits for, also after its suspension. */
  pending(): readonly Approval[];
  /** True when an approval was ever requested. */
  hasAsked(): boolean;
}

export function createApprovalWait({
  approvals,
  session,
  suspension,
  ended,
  onEvent,
  ...context
}: ApprovalWaitOptions): ApprovalWait {
  const suspended = suspension.signal;
  const over = AbortSignal.any([suspended, ended]);
  const waiting = new Map<ApprovalId, Approval>();
  let hasAsked = false;

  const wait = async (approval: Approval): Promise<Approval> => {
    waiting.set(approval.id, approval);
    onEvent?.({ kind: "asked", approval });
    try {
      return await suspension.whileWaiting(() => approvals.whenDecided(approval.id, over));
    } catch (thrown) {
      if (suspended.aborted) throw new ExecutionSuspended();
      throw ended.aborted ? tooLate(approval) : thrown;
    } finally {
      if (!suspended.aborted) waiting.delete(approval.id);
    }
  };
  return {
    async approve(call, tool, decision) {
      hasAsked = true;
      const plan = context.plan();
      const known = { labels: context.labels(), ...(plan && { plan }), ...(session !== undefined && { session }) };
      const asked = await approvals.request({ call, tool, decision, ...known });
      const settled = asked.state === "pending" ? await wait(asked) : asked;
      if (settled.state !== "approved") throw refusal(settled);
      return settled.id;
    },
    pending: () => [...waiting.values()],
    hasAsked: () => hasAsked,
  };
}

function tooLate({ tool }: Approval): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The program ended before the call of ${tool} was decided`);
}

function refusal({ tool, state, decidedBy, note, id }: Approval): GloveboxError {
  const who = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  const why = note === undefined ? "" : `: ${note}`;
  const what = state === "expired" ? "was not decided in time" : `was ${state}${who}${why}`;
  return new GloveboxError("POLICY_APPROVAL_REJECTED", `The call of ${tool} ${what} (${id})`, {
    hint: "Continue without this call, or ask the person what would be acceptable",
  });
}
