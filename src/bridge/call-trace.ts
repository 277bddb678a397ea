/** What a program's calls came to, in their order: the trace of the answer and the proof of where an error came from. */

import type { CallOutcome, CallRecord, Decision, Effect, PublicError, Reply } from "../domain/index.ts";

/** One call of the trace while it is under way. */
export interface OpenCall {
  readonly seq: number;
  tool: string;
  effect: Effect;
  decision: Decision["kind"];
  /** The line of the trace as it will stay. */
  close(reply: Reply): CallRecord;
}

export interface CallTrace {
  open(seq: number): OpenCall;
  /** Calls that had no answer when the program ended are `unknown`: they may have taken effect. */
  records(): readonly CallRecord[];
  /** What the host answered to a failed call; a guest cannot forge it. */
  failureOf(seq: number): PublicError | undefined;
}

export function createCallTrace(): CallTrace {
  const calls: (OpenCall & { outcome: CallOutcome; startedAt: number; ms: number })[] = [];
  const failures = new Map<number, PublicError>();
  return {
    open(seq) {
      const call = {
        seq,
        tool: "?",
        effect: "unknown" as Effect,
        decision: "deny" as Decision["kind"],
        outcome: "unknown" as CallOutcome,
        startedAt: performance.now(),
        ms: 0,
        close: (reply: Reply) => {
          call.outcome = reply.ok ? "ok" : outcomeOf(reply.error);
          call.ms = Math.round((performance.now() - call.startedAt) * 10) / 10;
          if (!reply.ok) failures.set(seq, reply.error);
          return toRecord(call);
        },
      };
      calls.push(call);
      return call;
    },
    records: () => calls.map(toRecord),
    failureOf: (seq) => failures.get(seq),
  };
}

function toRecord({ seq, tool, effect, decision, outcome, ms }: CallRecord): CallRecord {
  return { seq, tool, effect, decision, outcome, ms };
}

function outcomeOf({ code }: PublicError): CallOutcome {
  if (code === "POLICY_APPROVAL_PENDING") return "pending";
  if (code === "REQUEST_CANCELLED") return "unknown";
  return code.startsWith("POLICY_") || code === "EGRESS_DENIED" || code === "PROGRAM_FORBIDDEN" ? "denied" : "error";
}
