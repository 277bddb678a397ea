/**
 * Shows a past execution again, with a sandbox and nothing else. Other code can be run against its replies: each call gets
 * the reply that the same call had then. So a program can be repaired, and a skill tested, without any upstream.
 */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions, AnalysisResult } from "../../analysis/index.ts";
import { callsOverrun } from "../../bridge/index.ts";
import { GloveboxError, canonicalJson, defined, parseJson } from "../../domain/index.ts";
import type { ChildKeeper, EngineName, Instant, Limits, Namespace, Reply } from "../../domain/index.ts";
import { confineEngine, createEngine, openSandbox } from "../../sandbox/index.ts";
import type { Delivery, GuestHost, SandboxJob, Tape } from "../../sandbox/index.ts";

import { createPathMask } from "../../text/index.ts";
import { parseFailure } from "../journal-schema.ts";
import { answersOf } from "../journal.ts";
import type { AnsweredCall, JournaledDelivery } from "../journal.ts";
import { settleRefusal } from "../settle.ts";
import type { KeptExecution } from "./kept.ts";
import { replay, runAgain, traceReplay } from "./replay.ts";
import type { ReplayResult, ReplayDeps, ReplayTrace } from "./replay.ts";

export interface ReplayRequest {
  readonly signal: AbortSignal;
  /** Stops after the call with this number. Not together with `code`. */
  readonly until?: number;
  /** Runs this code against the recorded answers. */
  readonly code?: string;
  /** Called with each call of the recorded program: its address, a newline and its arguments. Not together with `code`. */
  readonly onRequest?: (seq: number, text: string) => void;
  /** By default the engine that it ran on. */
  readonly engine?: EngineName;
}

export interface ShowReplayOptions {
  /** The Node that runs the sandbox, and what ends its child processes. */
  readonly node: string;
  readonly keeper: ChildKeeper;
  readonly isolation: Parameters<typeof confineEngine>[1];
  readonly now: () => Instant;
  readonly createSeed: () => readonly number[];
  readonly analysis: Omit<AnalysisOptions, "limits">;
  readonly report: (thrown: unknown) => string;
  readonly hide: (text: string) => string;
}

export async function showReplay(
  kept: KeptExecution,
  { code, signal, until, onRequest, engine = kept.recording.started.engine }: ReplayRequest,
  options: ShowReplayOptions,
): Promise<ReplayResult> {
  const { analysis, report, hide, keeper, now, createSeed: seed } = options;
  const { limits } = kept.recording.request;
  const confined = await confineEngine(createEngine(engine, options.node), options.isolation);
  await using sandbox = openSandbox({ engine: confined, keeper, concurrency: 1, queue: 1, limits, now, seed });
  const { isolation } = sandbox;
  const maskPaths = createPathMask({ paths: [] }).own;
  const deps = { engine, isolation, report, hide, maskPaths, run: (job: SandboxJob) => sandbox.run(job) };
  if (code === undefined) return await replay(kept, { signal, ...defined({ until, onRequest }) }, deps);
  return await replayChanged(
    kept,
    { code, signal },
    { ...deps, analyze: (source, namespaces) => analyze(source, { namespaces }, { ...analysis, limits }) },
  );
}

export interface ReplayChangedDeps extends ReplayDeps {
  /** Without types: a recording has the names of tools, not their schemas. */
  analyze(source: string, namespaces: readonly Namespace[], limits: Limits): AnalysisResult;
}

const SHOWN_CHARS = 200;

/** Replays the recording first, because only that yields the arguments of each call. */
export async function replayChanged(
  kept: KeptExecution,
  { code, signal }: { readonly code: string; readonly signal: AbortSignal },
  deps: ReplayChangedDeps,
): Promise<ReplayResult> {
  const requests = new Map<number, string>();
  const first = await replay(kept, { signal, onRequest: (seq, text) => requests.set(seq, text) }, deps);
  if (first.difference !== undefined) return first;
  const { request, started, deliveries } = kept.recording;
  const analyzed = deps.analyze(code, started.namespaces, request.limits);
  if (!analyzed.ok) return { result: settleRefusal(kept.execution, analyzed, deps) };
  const clock = createClock(started.start.atMs);
  const trace = traceReplay(undefined, started); // the result of the recorded program does not concern another one
  const host = createHost(request.limits, { answers: groupAnswers(deliveries, requests), trace, clock });
  const tape: Tape = {
    start: started.start,
    past: [],
    now: clock.now,
    began: () => undefined,
    repeat: () => undefined,
    keep: () => undefined,
  };
  return { result: await runAgain(kept, { tape, host, signal, program: analyzed.program }, { trace, deps }) };
}

type Answers = Map<string, AnsweredCall[]>;

/** In the order of delivery. Arguments are compared as values, without regard to the order of keys. */
function groupAnswers(deliveries: readonly JournaledDelivery[], requests: ReadonlyMap<number, string>): Answers {
  const made = answersOf(deliveries)
    .values()
    .filter(({ call }) => requests.has(call.record.seq));
  return Map.groupBy(made, ({ call }) => keyOf(requests.get(call.record.seq) ?? ""));
}

function keyOf(text: string): string {
  const cut = text.indexOf("\n");
  return `${text.slice(0, cut)}\n${canonicalJson(parseJson(text.slice(cut + 1)) ?? "")}`;
}

interface Clock {
  readonly now: () => number;
  /** Sets the clock to the time of a recorded delivery. */
  reach(atMs: number): void;
}

/** Shows the times of the recording and continues from the last one. */
function createClock(startMs: number): Clock {
  let base = startMs;
  let since = performance.now();
  const now = (): number => base + Math.floor(performance.now() - since);
  return {
    now,
    reach(atMs) {
      base = Math.max(now(), atMs);
      since = performance.now();
    },
  };
}

function createHost(
  limits: Limits,
  { answers, trace, clock }: { readonly answers: Answers; readonly trace: ReplayTrace; readonly clock: Clock },
): GuestHost {
  return {
    async call(rawAddress, rawArgs, seq) {
      if (seq > limits.calls) throw callsOverrun(limits);
      trace.leaveOpen(seq, String(rawAddress));
      const text = `${String(rawAddress)}\n${String(rawArgs)}`;
      const found = answers.get(keyOf(text))?.shift();
      if (!found) throw unknown(seq, text);
      trace.repeat(found, seq);
      clock.reach(found.delivery.atMs);
      return toReply(found.delivery);
    },
  };
}

function toReply({ kind, text }: Delivery): Reply {
  return kind === "failure" ? { ok: false, error: parseFailure(text) } : { ok: true, json: text };
}

function unknown(seq: number, text: string): GloveboxError {
  const cut = text.indexOf("\n");
  const args = text.slice(cut + 1);
  const shown = args.length > SHOWN_CHARS ? `${args.slice(0, SHOWN_CHARS).toWellFormed()}…` : args;
  return new GloveboxError("REPLAY_DIVERGED", `Call ${seq}, ${text.slice(0, cut)}(${shown}), is not in the recording`, {
    hint: "Each recorded reply is used once, for the same tool and arguments; record a run that makes this call",
  });
}
