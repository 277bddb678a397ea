/** The outcomes of a program's calls, in order. A guest cannot forge them, so they prove where an error came from. */

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

/** One line of the trace while its call is under way. */
export interface OpenCall {
  readonly seq: number;
  tool: string;
  effect: Effect;
  decision: Decision["kind"];
  /** The upstream may have received it. */
  readonly isSent: boolean;
  send(): void;
  /** The server declares that repeating the call changes nothing more. */
  isRepeatable: boolean;
  /** Marks the outcome as unknown where the answer was lost, and returns the error that tells the program. */
  fail(thrown: unknown, error: PublicError): PublicError;
  /** The digest of the tool's definition, once the tool is found. */
  definition?: Digest;
  /** A dry run answered it from its schema. */
  isSkipped: boolean;
  /** What the ledger keeps of its end beside the outcome. */
  note?: JsonObject;
  /** Returns the finished line. */
  close(reply: Reply): CallRecord;
  /** Marks a call that still waits for approval when the execution is suspended. */
  pend(): CallRecord;
}

/** A finished line, and the definition of its tool. */
export interface TracedCall {
  readonly record: CallRecord;
  readonly definition?: Digest;
}

export interface CallTrace {
  /** `tool` is the name that the guest used, until the tool is found. */
  open(seq: number, tool: string): OpenCall;
  /** Adds a call that ended in an earlier run of the program. */
  restore(call: TracedCall, failure?: PublicError): void;
  find(seq: number): TracedCall | undefined;
  /** Calls without an answer at the end of the program are `unknown`: they may have taken effect. */
  records(): readonly CallRecord[];
  /** The error that the host answered a failed call with. */
  failureOf(seq: number): PublicError | undefined;
}

/** After these errors the upstream may or may not have done what it was asked to do. */
const LOST_ANSWERS: readonly ErrorCode[] = ["UPSTREAM_TIMEOUT", "UPSTREAM_UNREACHABLE", "REQUEST_CANCELLED"];
const LOOK_FIRST = "It is not known whether it took effect: look before you call it again";

export function createCallTrace(): CallTrace {
  const calls = new Map<number, CallRecord & { readonly definition?: Digest }>();
  const failures = new Map<number, PublicError>();
  return {
    open(seq, tool) {
      const call: OpenLine = {
        seq,
        tool,
        effect: "unknown",
        decision: "deny",
        isSent: false,
        send: () => void (call.isSent = true),
        isRepeatable: false,
        isSkipped: false,
        outcome: "unknown",
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
    // Calls of an earlier run and of this one are not added in order.
    records: () => [...calls.values()].toSorted((a, b) => a.seq - b.seq).map(toRecord),
    failureOf: (seq) => failures.get(seq),
  };
}

/** A read has no effect that could be unknown. */
function isLost({ isSent, effect }: OpenCall, thrown: unknown, code: ErrorCode): boolean {
  const mayHaveArrived = isSent && !(thrown instanceof GloveboxError && thrown.details.unsent === true);
  return mayHaveArrived && effect !== "read" && LOST_ANSWERS.includes(code);
}

/** What only the trace itself may change. */
interface OpenLine extends Omit<OpenCall, "isSent"> {
  isSent: boolean;
  outcome: CallRecord["outcome"];
  readonly startedAt: number;
  ms: number;
}

type TraceLine = CallRecord & Partial<Pick<OpenCall, "isSkipped">>;

function toRecord({ seq, tool, effect, decision, outcome, ms, ...known }: TraceLine): CallRecord {
  const dryRun = known.isSkipped === true || known.dryRun === true;
  return { seq, tool, effect, decision, outcome, ms, ...(dryRun && { dryRun }) };
}

function outcomeOf({ code }: PublicError): CallRecord["outcome"] {
  if (code === "POLICY_APPROVAL_PENDING") return "pending";
  return code.startsWith("POLICY_") || code === "EGRESS_DENIED" || code === "PROGRAM_FORBIDDEN" ? "denied" : "error";
}
