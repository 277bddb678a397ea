/**
 * Replays a past execution: the same program receives the recorded deliveries in a new isolate, in the same order and at
 * the same times. It cannot reach an upstream, the network or a person.
 */

import { digestOf } from "../../text/index.ts";
import { callsOverrun } from "../../bridge/index.ts";
import { GloveboxError, parseResultId } from "../../domain/index.ts";
import type { ExecutionResult, Json, Program, PublicError, ResultId } from "../../domain/index.ts";
import type { GuestHost, SandboxJob, SandboxResult, Tape } from "../../sandbox/index.ts";
import { outlineShape } from "../../typegen/index.ts";

import type { JournaledDelivery } from "../journal.ts";
import { keepLarge } from "../keep-large.ts";
import { programOf } from "../journal.ts";
import { settleResult } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { findDifference } from "./find-difference.ts";
import type { StartedRecording, KeptExecution } from "./kept.ts";
import { traceReplay } from "./trace-replay.ts";
import type { ReplayTrace } from "./trace-replay.ts";

const MAX_SHAPE_CHARS = 2_000;
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
  const difference = isWhole && kept.result ? findDifference(kept.result, result) : divergence(result);
  return { result, ...(difference !== undefined && { difference }) };
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
  { tape, host, signal, program = toProgram(recording) }: ReplayRun,
  { trace, deps }: { readonly trace: ReplayTrace; readonly deps: ReplayDeps },
): Promise<ExecutionResult> {
  const { request, started } = recording;
  const { limits, input } = request;
  const ran = await deps.run({
    program,
    namespaces: started.namespaces,
    limits,
    host,
    tape,
    principal: execution.principal,
    signal,
    ...(started.network && { network: true }),
    ...(started.secrets && { secrets: started.secrets }),
    ...(input !== undefined && { input }),
  });
  const settled = settleResult(execution, { program, bridge: trace, ran }, deps);
  return keepLarge(settled, limits, async (value) => describeLarge(value, trace));
}

/** The program started, so there is one. */
function toProgram(recording: StartedRecording): Program {
  return programOf(recording) ?? recording.started.program;
}

/** Describes a large result under its recorded handle, or repeats the recorded refusal. */
function describeLarge(
  value: Json,
  { handle = NO_HANDLE, noRoom }: ReplayTrace,
): NonNullable<ExecutionResult["truncated"]> {
  if (noRoom) throw toError(noRoom);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return { handle, bytes, shape: outlineShape(value, MAX_SHAPE_CHARS) };
}

function toError({ code, message, hint }: PublicError): GloveboxError {
  return new GloveboxError(code, message, hint === undefined ? {} : { hint });
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
  const answers = new Map(deliveries.flatMap((one) => (one.call ? [[one.call.record.seq, one] as const] : [])));
  return {
    start: recording.started.start,
    past: deliveries.map(({ delivery }) => delivery),
    endsWithPast: true,
    began: () => undefined,
    repeat(seq, text) {
      const answer = answers.get(seq);
      const tool = text.slice(0, text.indexOf("\n"));
      const was = answer?.call?.record.tool;
      const isSame = isMasked ? was === tool : answer?.call?.request === digestOf(text);
      if (!answer || !isSame) throw diverged(seq, tool, was);
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

function diverged(seq: number, tool: string, was: string | undefined): GloveboxError {
  const what = tool === was ? `${tool} with other arguments than before` : `${tool}, but it was ${was} before`;
  return new GloveboxError("REPLAY_DIVERGED", `Call ${seq} is ${what}`, {
    hint: "Use the recording with its own program, engine and version of Glovebox",
  });
}

function parseHandle(text: string): ResultId {
  const handle = parseResultId(text);
  if (!handle) throw new TypeError("The constant handle is malformed");
  return handle;
}

function divergence({ error }: ExecutionResult): string | undefined {
  return error?.code === "REPLAY_DIVERGED" ? error.message : undefined;
}
