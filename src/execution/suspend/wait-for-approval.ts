/** Holds a call until a person has decided about it; then it continues, or fails with the decision. */

import { ExecutionSuspended } from "../../bridge/index.ts";
import type { AskDecision } from "../../bridge/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type {
  Approval,
  ApprovalId,
  ApprovalRequests,
  CallPlan,
  ExecutionEvent,
  InputRequest,
  LabelSource,
  Tool,
  ToolCall,
} from "../../domain/index.ts";

import type { SuspensionDetector } from "./detect-suspension.ts";
import type { InputWaits } from "../input-waits.ts";

export interface ApprovalWaitOptions {
  readonly approvals: ApprovalRequests;
  readonly session?: string;
  /** What the program's session has read. */
  readonly labels: () => readonly LabelSource[];
  /** What the program can call, for the person who reviews one of its calls. */
  readonly plan: () => CallPlan | undefined;
  /** Replays the program to show what a call depends on. */
  readonly findEvidence: (call: ToolCall) => Promise<NonNullable<Approval["evidence"]>> | undefined;
  readonly suspension: SuspensionDetector;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
  readonly onEvent?: (event: ExecutionEvent) => void;
  /** How long its client waits for a question that it cannot show to its user; `undefined` for one that it shows. */
  readonly unattendedMs: (mode: InputRequest["question"]["mode"]) => number | undefined;
  /** Where the questions are listed that the program waits for in memory. */
  readonly inputs: Pick<InputWaits, "during">;
}

export function createApprovalWait(options: ApprovalWaitOptions) {
  const { approvals, session, suspension, ended, onEvent, labels, plan, findEvidence, unattendedMs } = options;
  const suspended = suspension.signal;
  const over = AbortSignal.any([suspended, ended]);
  const waiting = new Map<ApprovalId, Approval>();
  let hasAsked = false;

  const wait = async (approval: Approval, mostMs?: number): Promise<Approval> => {
    waiting.set(approval.id, approval);
    onEvent?.({ kind: "asked", approval });
    try {
      return await suspension.whileWaiting(() => approvals.whenDecided(approval.id, over), mostMs);
    } catch (thrown) {
      if (suspended.aborted) throw new ExecutionSuspended();
      throw ended.aborted ? tooLate(approval) : thrown;
    } finally {
      if (!suspended.aborted) waiting.delete(approval.id);
    }
  };
  return {
    /** The approval step of the bridge. */
    approve: async (call: ToolCall, tool: Tool, decision: AskDecision): Promise<ApprovalId> => {
      hasAsked = true;
      const evidence = decision.flow && (() => findEvidence(call));
      const known = { labels: labels(), ...defined({ plan: plan(), session, evidence }) };
      const requested = await approvals.request({ call, tool, decision, ...known });
      const settled = requested.state === "pending" ? await wait(requested) : requested;
      if (settled.state !== "approved") throw refusal(settled);
      return settled.id;
    },
    /**
     * Asks the person for what an upstream wants to know. A call that cannot be repeated keeps its program in memory: the
     * upstream's request ends with its connection. `over` fires when the call has ended without the answer.
     */
    askInput: async (
      call: ToolCall,
      tool: Tool,
      question: InputRequest["question"],
      { canRepeat, over }: { readonly canRepeat: boolean; readonly over: AbortSignal },
    ): Promise<InputRequest["answer"]> => {
      hasAsked = true;
      const known = { labels: labels(), ...defined({ session }) };
      const requested = await approvals.request({ call, tool, question, ...known });
      if (requested.state === "pending") {
        const isRepeatable = canRepeat || tool.effect === "read" || tool.idempotent === true;
        const mostMs = unattendedMs(question.mode);
        if (isRepeatable) await wait(requested, mostMs);
        else await stay(requested, { mostMs, over }, options);
      }
      return approvals.takeAnswer(requested.id);
    },
    /** The approvals that it waits for, also after its suspension. */
    pending: (): readonly Approval[] => [...waiting.values()],
    /** True when an approval was ever requested. */
    hasAsked: (): boolean => hasAsked,
  };
}

/** Waits in memory. Once the call is over, its question is withdrawn. */
async function stay(
  approval: Approval,
  { mostMs, over }: { readonly mostMs: number | undefined; readonly over: AbortSignal },
  { approvals, suspension, inputs, ended, onEvent }: ApprovalWaitOptions,
): Promise<void> {
  const { id, execution } = approval;
  onEvent?.({ kind: "asked", approval });
  const decided = () => approvals.whenDecided(id, AbortSignal.any([ended, over]));
  try {
    await suspension.whileStaying(() => inputs.during(approval, mostMs, decided));
  } catch (thrown) {
    if (!ended.aborted) await approvals.withdraw(execution, id);
    throw thrown;
  }
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
