/** What a program's calls came to, in their order: the trace of the answer and the proof of where an error came from. */

import { GloveboxError } from "../domain/index.ts";
import type {
  CallRecord,
  Decision,
  Digest,
  Effect,
  ErrorCode,
  JsonObject,
  PublicError,
  Reply,
} from "../domain/index.ts";

/** One call of the trace while it is under way. */
export interface OpenCall {
  readonly seq: number;
  tool: string;
  effect: Effect;
  decision: Decision["kind"];
  /** The upstream may have received it. */
  readonly isSent: boolean;
  send(): void;
  /** A second call would change nothing more, as its server says. */
  isRepeatable: boolean;
  /** Marks the outcome as unknown where the answer was lost, and says so to the program. */
  fail(thrown: unknown, error: PublicError): PublicError;
  /** Of the tool, once it is known which. */
  definition?: Digest;
  /** It was answered from its schema and never made. */
  isSkipped: boolean;
  /** What the record of its end says beside the outcome. */
  note?: JsonObject;
  /** The line of the trace as it will stay. */
  close(reply: Reply): CallRecord;
  /** It waits for a person beyond the end of this run. */
  pend(): CallRecord;
}

/** One call as the trace has it, and what its tool was. */
export interface TracedCall {
  readonly record: CallRecord;
  readonly definition?: Digest;
}

export interface CallTrace {
  /** `tool` is what the guest calls it, until it is known which one it means. */
  open(seq: number, tool: string): OpenCall;
  /** A call that ended in an earlier run of the program. */
  restore(call: TracedCall, failure?: PublicError): void;
  find(seq: number): TracedCall | undefined;
  /** Calls that had no answer when the program ended are `unknown`: they may have taken effect. */
  records(): readonly CallRecord[];
  /** What the host answered to a failed call; a guest cannot forge it. */
  failureOf(seq: number): PublicError | undefined;
}

/** After these nobody knows whether the upstream did what it was asked to do. */
const LOST_ANSWERS: readonly ErrorCode[] = ["UPSTREAM_TIMEOUT", "UPSTREAM_UNREACHABLE", "REQUEST_CANCELLED"];
const LOOK_FIRST = "It is not known whether it took effect: look before you call it again";

export function createCallTrace(): CallTrace {
  const calls = new Map<number, CallRecord & { readonly definition?: Digest }>();
  const failures = new Map<number, PublicError>();
  return {
    open(seq, tool) {
      const call = {
        seq,
        tool,
        effect: "unknown" as Effect,
        decision: "deny" as Decision["kind"],
        isSent: false,
        send: () => void (call.isSent = true),
        isRepeatable: false,
        isSkipped: false,
        outcome: "unknown" as CallRecord["outcome"],
        startedAt: performance.now(),
        ms: 0,
        fail: (thrown: unknown, error: PublicError) => {
          const isUnknown = isLost(call, thrown, error.code);
          call.outcome = isUnknown ? "unknown" : outcomeOf(error);
          if (!isUnknown || call.isRepeatable) return error;
          return { ...error, retry: false, hint: LOOK_FIRST };
        },
        close: (reply: Reply) => {
          if (reply.ok) call.outcome = "ok";
          else failures.set(seq, reply.error);
          call.ms = Math.round((performance.now() - call.startedAt) * 10) / 10;
          return toRecord(call);
        },
        pend: () => {
          call.outcome = "pending";
          return toRecord(call);
        },
      };
      calls.set(seq, call);
      return call;
    },
    restore({ record, definition }, failure) {
      calls.set(record.seq, { ...record, ...(definition && { definition }) });
      if (failure) failures.set(record.seq, failure);
    },
    find(seq) {
      const call = calls.get(seq);
      return call && { record: toRecord(call), ...(call.definition && { definition: call.definition }) };
    },
    // Those of an earlier run and those of this one do not come in their order.
    records: () => [...calls.values()].toSorted((a, b) => a.seq - b.seq).map(toRecord),
    failureOf: (seq) => failures.get(seq),
  };
}

/** A read changes nothing, so there is nothing that could be unknown about it. */
function isLost({ isSent, effect }: OpenCall, thrown: unknown, code: ErrorCode): boolean {
  const mayHaveArrived = isSent && !(thrown instanceof GloveboxError && thrown.details.unsent === true);
  return mayHaveArrived && effect !== "read" && LOST_ANSWERS.includes(code);
}

type Known = CallRecord & Partial<Pick<OpenCall, "isSkipped">>;

function toRecord({ seq, tool, effect, decision, outcome, ms, ...known }: Known): CallRecord {
  const dryRun = known.isSkipped === true || known.dryRun === true;
  return { seq, tool, effect, decision, outcome, ms, ...(dryRun && { dryRun }) };
}

function outcomeOf({ code }: PublicError): CallRecord["outcome"] {
  if (code === "POLICY_APPROVAL_PENDING") return "pending";
  return code.startsWith("POLICY_") || code === "EGRESS_DENIED" || code === "PROGRAM_FORBIDDEN" ? "denied" : "error";
}
