/** What happens to a call that needs a person: it waits, and goes on, or fails, with what the person said. */

import { ExecutionSuspended } from "../../bridge/index.ts";
import type { AskDecision } from "../../bridge/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type {
  Approval,
  ApprovalId,
  CallPlan,
  ExecutionEvent,
  ExecutionId,
  LabelSource,
  Tool,
  ToolCall,
} from "../../domain/index.ts";

import type { PutAway } from "./detect-pause.ts";

/** Where people are asked. */
export interface People {
  /** The approval of this very call if there is one, else one that covers it, else a new one that waits. */
  request(question: Question): Promise<Approval>;
  /** Resolves once it is no longer pending; rejects when the signal fires. */
  settled(id: ApprovalId, signal: AbortSignal): Promise<Approval>;
  /** Nobody waits for what an execution that has ended still asks. */
  withdraw(execution: ExecutionId): Promise<void>;
  find(id: ApprovalId): Promise<Approval | undefined>;
  /** What one execution has asked, those that wait first. */
  list(query: { readonly execution: ExecutionId }): Promise<readonly Approval[]>;
}

interface Question {
  readonly call: ToolCall;
  readonly session?: string;
  readonly tool: Tool;
  readonly decision: AskDecision;
  readonly labels: readonly LabelSource[];
  readonly plan?: CallPlan;
}

export interface WaitingOptions {
  readonly people: People;
  readonly session?: string;
  /** What the program's session has read. */
  readonly labels: () => readonly LabelSource[];
  /** What the program can call, for those who review one of its calls. */
  readonly plan: () => CallPlan | undefined;
  readonly putAway: PutAway;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
  readonly onEvent?: (event: ExecutionEvent) => void;
}

export interface Waiting {
  /** As the bridge needs it. */
  readonly approve: (call: ToolCall, tool: Tool, decision: AskDecision) => Promise<ApprovalId>;
  /** What it waits for, also once it has been put away. */
  pending(): readonly Approval[];
  /** Whether a person was ever asked. */
  hasAsked(): boolean;
}

export function openWaiting({ people, session, putAway, ended, onEvent, ...told }: WaitingOptions): Waiting {
  const away = putAway.signal;
  const over = AbortSignal.any([away, ended]);
  const waiting = new Map<ApprovalId, Approval>();
  let hasAsked = false;

  const wait = async (approval: Approval): Promise<Approval> => {
    waiting.set(approval.id, approval);
    onEvent?.({ kind: "asked", approval });
    try {
      return await putAway.whileAsking(() => people.settled(approval.id, over));
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
