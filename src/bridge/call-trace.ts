/** The outcomes of a program's calls, in order. A guest cannot forge them, so they prove where an error came from. */

import { GloveboxError, defined } from "../domain/index.ts";
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
  /** The call of the skill that made it. */
  readonly under: number | undefined;
  /** The name that the guest used, until the tool is found. */
  tool: string;
  effect: Effect;
  decision: Decision["kind"];
  /** Calls without an answer at the end of the program stay `unknown`: they may have taken effect. */
  outcome: CallRecord["outcome"];
  readonly startedAt: number;
  ms: number;
  /** The upstream may have received it. */
  isSent: boolean;
  /** The server declares that repeating the call changes nothing more. */
  isRepeatable: boolean;
  /** A dry run answered it from its schema. */
  isSkipped: boolean;
  /** The digest of the tool's definition, once the tool is found. */
  definition?: Digest;
  /** What the ledger keeps of its end beside the outcome. */
  note?: JsonObject;
}

/** A finished line, and the definition of its tool. */
export interface TracedCall {
  readonly record: CallRecord;
  readonly definition?: Digest;
}

/** After these errors the upstream may or may not have done what it was asked to do. */
const LOST_ANSWERS: readonly ErrorCode[] = ["UPSTREAM_TIMEOUT", "UPSTREAM_UNREACHABLE", "REQUEST_CANCELLED"];
const REFUSALS: readonly ErrorCode[] = ["EGRESS_DENIED", "PROGRAM_FORBIDDEN", "PROGRAM_TYPES"];
const LOOK_FIRST = "It is not known whether it took effect: look before you call it again";

export function createCallTrace() {
  const calls = new Map<number, TraceLine>();
  const failures = new Map<number, PublicError>();
  return {
    open(seq: number, tool: string, under?: number): OpenCall {
      const call: OpenCall = {
        seq,
        under,
        tool,
        effect: "unknown",
        decision: "deny",
        outcome: "unknown",
        startedAt: performance.now(),
        ms: 0,
        isSent: false,
        isRepeatable: false,
        isSkipped: false,
      };
      calls.set(seq, call);
      return call;
    },
    close(call: OpenCall, reply: Reply): CallRecord {
      if (reply.ok) call.outcome = "ok";
      else failures.set(call.seq, reply.error);
      call.ms = Math.round((performance.now() - call.startedAt) * 10) / 10;
      return toRecord(call);
    },
    /** Adds a call that ended in an earlier run of the program. */
    restore({ record, definition }: TracedCall, failure?: PublicError): void {
      calls.set(record.seq, { ...record, ...defined({ definition }) });
      if (failure) failures.set(record.seq, failure);
    },
    /** Calls of an earlier run and of this one are not added in order. */
    records: (): readonly CallRecord[] => [...calls.values()].toSorted((a, b) => a.seq - b.seq).map(toRecord),
    /** The error that the host answered a failed call with. */
    failureOf: (seq: number): PublicError | undefined => failures.get(seq),
  };
}

/** Marks the outcome as unknown where the answer was lost, and returns the error that tells the program. */
export function failCall(call: OpenCall, thrown: unknown, error: PublicError): PublicError {
  const isUnknown = isLost(call, thrown, error.code);
  call.outcome = isUnknown ? "unknown" : outcomeOf(error);
  return isUnknown && !call.isRepeatable ? { ...error, retry: false, hint: LOOK_FIRST } : error;
}

/** A read has no effect that could be unknown. */
function isLost({ isSent, effect }: OpenCall, thrown: unknown, code: ErrorCode): boolean {
  const mayHaveArrived = isSent && !(thrown instanceof GloveboxError && thrown.details.unsent === true);
  return mayHaveArrived && effect !== "read" && LOST_ANSWERS.includes(code);
}

type TraceLine = Omit<CallRecord, "under"> & Partial<Pick<OpenCall, "isSkipped" | "definition" | "under">>;

function toRecord({
  seq,
  tool,
  effect,
  decision,
  outcome,
  ms,
  under,
  isSkipped = false,
  dryRun,
}: TraceLine): CallRecord {
  return { seq, tool, effect, decision, outcome, ms, ...defined({ under, dryRun: isSkipped || dryRun }) };
}

function outcomeOf({ code }: PublicError): CallRecord["outcome"] {
  if (code === "POLICY_APPROVAL_PENDING") return "pending";
  return code.startsWith("POLICY_") || REFUSALS.includes(code) ? "denied" : "error";
}
