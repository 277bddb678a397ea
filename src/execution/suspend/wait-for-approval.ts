/** What happens to a call that needs a person: it waits, and goes on, or fails, with what the person said. */

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
  readonly people: ApprovalRequests;
  readonly session?: string;
  /** What the program's session has read. */
  readonly labels: () => readonly LabelSource[];
  /** What the program can call, for those who review one of its calls. */
  readonly plan: () => CallPlan | undefined;
  readonly suspension: SuspensionDetector;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
  readonly onEvent?: (event: ExecutionEvent) => void;
}

export interface ApprovalWait {
  /** As the bridge needs it. */
  readonly approve: (call: ToolCall, tool: Tool, decision: AskDecision) => Promise<ApprovalId>;
  /** What it waits for, also once it has been put away. */
  pending(): readonly Approval[];
  /** Whether a person was ever asked. */
  hasAsked(): boolean;
}

export function createApprovalWait({
  people,
  session,
  suspension,
  ended,
  onEvent,
  ...told
}: ApprovalWaitOptions): ApprovalWait {
  const away = suspension.signal;
  const over = AbortSignal.any([away, ended]);
  const waiting = new Map<ApprovalId, Approval>();
  let hasAsked = false;

  const wait = async (approval: Approval): Promise<Approval> => {
    waiting.set(approval.id, approval);
    onEvent?.({ kind: "asked", approval });
    try {
      return await suspension.whileWaiting(() => people.whenDecided(approval.id, over));
    } catch (thrown) {
      if (away.aborted) throw new ExecutionSuspended();
      throw ended.aborted ? tooLate(approval) : thrown;
    } finally {
      if (!away.aborted) waiting.delete(approval.id);
    }
  };
  return {
    async approve(call, tool, decision) {
      hasAsked = true;
      const plan = told.plan();
      const known = { labels: told.labels(), ...(plan && { plan }), ...(session !== undefined && { session }) };
      const asked = await people.request({ call, tool, decision, ...known });
      const settled = asked.state === "pending" ? await wait(asked) : asked;
      if (settled.state !== "approved") throw refusal(settled);
      return settled.id;
    },
    pending: () => [...waiting.values()],
    hasAsked: () => hasAsked,
  };
}

function tooLate({ tool }: Approval): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The program ended before anybody decided about ${tool}`);
}

function refusal({ tool, state, decidedBy, note, id }: Approval): GloveboxError {
  const who = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  const why = note === undefined ? "" : `: ${note}`;
  const what = state === "expired" ? "was not decided in time" : `was ${state}${who}${why}`;
  return new GloveboxError("POLICY_APPROVAL_REJECTED", `The call of ${tool} ${what} (${id})`, {
    hint: "Do without it, or ask the person what would be acceptable",
  });
}
