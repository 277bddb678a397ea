/**
 * Replays a past execution: the same program receives the recorded deliveries in a new isolate, in the same order and at
 * the same times. It cannot reach an upstream, the network or a person.
 */

import { callsOverrun } from "../../bridge/index.ts";
import type { Bridge } from "../../bridge/index.ts";
import { GloveboxError, defined, parseResultId } from "../../domain/index.ts";
import type {
  CallRecord,
  ExecutionResult,
  Json,
  LabelSource,
  Program,
  PublicError,
  ResultId,
} from "../../domain/index.ts";
import type { GuestHost, SandboxJob, SandboxResult, Tape } from "../../sandbox/index.ts";
import { digestOf } from "../../text/index.ts";
import { runInSlices } from "../../timing/index.ts";
import { outlineShape } from "../../typegen/index.ts";

import { parseFailure } from "../journal-schema.ts";
import { answersOf, callDiverged, programOf } from "../journal.ts";
import type { AnsweredCall, JournaledDelivery } from "../journal.ts";
import { keepLarge } from "../kept-results.ts";
import { settleResult } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { findDifference } from "./find-difference.ts";
import type { KeptExecution } from "./kept.ts";

const MAX_SHAPE_CHARS = 2_000;
const DIVERGED_HINT = "Use the recording with its own program, engine and version of Glovebox";
/** A handle without a result: a replay stores nothing. */
const NO_HANDLE = parseHandle("rs_".padEnd(27, "0"));

export interface ReplayDeps extends SettleDeps {
  run(job: SandboxJob): Promise<SandboxResult>;
}

export interface RecordedReplayOptions {
  /** Stops after the reply to this call. */
  readonly until?: number;
  readonly signal: AbortSignal;
  /** Called with each call as the program wrote it: its address, a newline and its arguments. */
  readonly onRequest?: (seq: number, text: string) => void;
}

export interface ReplayResult {
  readonly result: ExecutionResult;
  /** How it differs from the recorded result; absent without a difference or a recorded result. */
  readonly difference?: string;
}

/** Rejects with REQUEST_INVALID for an `until` that the recording does not have. */
export async function replay(
  kept: KeptExecution,
  options: RecordedReplayOptions,
  deps: ReplayDeps,
): Promise<ReplayResult> {
  const deliveries = takeUntil(kept.recording.deliveries, options.until);
  const isWhole = options.until === undefined;
  const { labels = [] } = kept.recording.started;
  const trace = traceReplay(kept.result, { isPart: !isWhole, labels });
  const tape = createTape(kept, deliveries, { trace, ...options });
  const result = await runAgain(kept, { tape, host: endedHost(kept, trace), signal: options.signal }, { trace, deps });
  const { error } = result;
  const divergence = error?.code === "REPLAY_DIVERGED" ? error.message : undefined;
  const difference = isWhole && kept.result ? findDifference(kept.result, result) : divergence;
  return { result, ...defined({ difference }) };
}

/** What is specific to one replay. */
export interface ReplayRun extends Pick<SandboxJob, "host" | "signal"> {
  readonly tape: Tape;
  /** Default: the recorded program. */
  readonly program?: Program;
}

/** Runs the program and settles its result. Stores nothing. */
export async function runAgain(
  { execution, recording }: KeptExecution,
  { program = programOf(recording) ?? recording.started.program, ...run }: ReplayRun,
  { trace, deps }: { readonly trace: ReplayTrace; readonly deps: ReplayDeps },
): Promise<ExecutionResult> {
  const { namespaces, network, secrets } = recording.started;
  const { limits, input } = recording.request;
  const optional = defined({ network: network ? true : undefined, secrets, input });
  const ran = await deps.run({ ...run, program, namespaces, limits, principal: execution.principal, ...optional });
  const settled = await runInSlices(settleResult(execution, { program, bridge: trace, ran }, deps));
  return keepLarge(settled, limits, async (value) => describeLarge(value, trace));
}

/** Describes a large result under its recorded handle, or repeats the recorded refusal. */
function describeLarge(
  value: Json,
  { handle = NO_HANDLE, noRoom }: ReplayTrace,
): NonNullable<ExecutionResult["truncated"]> {
  if (noRoom) throw new GloveboxError(noRoom.code, noRoom.message, defined({ hint: noRoom.hint }));
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return { handle, bytes, shape: outlineShape(value, MAX_SHAPE_CHARS) };
}

function takeUntil(deliveries: readonly JournaledDelivery[], until: number | undefined): readonly JournaledDelivery[] {
  if (until === undefined) return deliveries;
  const at = deliveries.findIndex(({ call }) => call?.record.seq === until);
  if (at >= 0) return deliveries.slice(0, at + 1);
  const answered = deliveries.flatMap(({ call }) => (call ? [call.record.seq] : [])).toSorted((a, b) => a - b);
  throw new GloveboxError("REQUEST_INVALID", `The recording has no reply to call ${until}`, {
    hint: answered.length === 0 ? "It has no replies" : `It has replies to ${answered.slice(0, 20).join(", ")}`,
  });
}

function createTape(
  { recording, isMasked }: KeptExecution,
  deliveries: readonly JournaledDelivery[],
  { trace, onRequest }: Pick<RecordedReplayOptions, "onRequest"> & { readonly trace: ReplayTrace },
): Tape {
  const answers = answersOf(deliveries);
  return {
    start: recording.started.start,
    past: deliveries.map(({ delivery }) => delivery),
    endsWithPast: true,
    began: () => undefined,
    repeat(seq, text) {
      const answer = answers.get(seq);
      const was = answer?.call.record.tool;
      const isSame = isMasked ? text.startsWith(`${was}\n`) : answer?.call.request === digestOf(text);
      if (!answer || !isSame) throw callDiverged(seq, text, was, DIVERGED_HINT);
      onRequest?.(seq, text);
      trace.repeat(answer, seq);
    },
    keep: () => undefined,
  };
}

/** A call without a reply in the recording never had one; only one above the limit ends the program. */
function endedHost({ recording }: KeptExecution, trace: ReplayTrace): GuestHost {
  const { limits } = recording.request;
  return {
    call(rawAddress, _rawArgs, seq) {
      if (seq > limits.calls) return Promise.reject(callsOverrun(limits));
      trace.leaveOpen(seq, String(rawAddress));
      return new Promise(() => undefined);
    },
  };
}

function parseHandle(text: string): ResultId {
  const handle = parseResultId(text);
  if (!handle) throw new TypeError("The constant handle is malformed");
  return handle;
}

export type ReplayTrace = ReturnType<typeof traceReplay>;

interface TraceOptions {
  /** True for a replay that stops early: calls without a reply are still open. */
  readonly isPart?: boolean;
  /** What the session had read before. */
  readonly labels?: readonly LabelSource[];
}

/**
 * Takes the place of the bridge when the result is settled: the calls of a replayed program, each with its recorded
 * outcome once the program has made it. `result` has the recorded outcomes.
 */
export function traceReplay(result: KeptExecution["result"], { isPart = false, labels: before = [] }: TraceOptions) {
  const calls = new Map<number, CallRecord>();
  const failures = new Map<number, PublicError>();
  let labels = before;
  /** A skill does not run again: its reply is recorded, and so are its calls. */
  const addCallsOf = (under: number): void => {
    for (const call of result?.calls ?? [])
      if (call.under === under && call.seq !== under) {
        calls.set(call.seq, call);
        addCallsOf(call.seq);
      }
  };
  const bridge: Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun"> = {
    records: () => [...calls.values()].toSorted((a, b) => a.seq - b.seq),
    failureOf: (seq) => failures.get(seq),
    labels: () => labels,
    dryRun: () => result?.dryRun && { writes: result.dryRun.writes.filter(({ seq }) => calls.has(seq)) },
  };
  return {
    ...bridge,
    /** `seq` is the number of the call in the replay. */
    repeat({ delivery, call }: AnsweredCall, seq: number): void {
      calls.set(seq, { ...call.record, seq });
      addCallsOf(seq);
      if (delivery.kind === "failure") failures.set(seq, parseFailure(delivery.text));
      // Labels only grow, and calls are not made in the order of their replies.
      if (call.labels && call.labels.length > labels.length) ({ labels } = call);
    },
    /** Records a call without a reply. */
    leaveOpen(seq: number, tool: string): void {
      const known = result?.calls.find((call) => call.seq === seq);
      const open = { seq, tool, effect: "unknown", decision: "deny", outcome: "unknown", ms: 0 } as const;
      calls.set(seq, isPart ? { ...open, ...known, outcome: "unknown" } : (known ?? open));
    },
    /** The handle of a large result. */
    handle: result?.truncated?.handle,
    /** The error if a large result could not be stored, which the program did not cause. */
    noRoom: result?.error?.code === "LIMIT_SIZE" ? result.error : undefined,
  };
}
