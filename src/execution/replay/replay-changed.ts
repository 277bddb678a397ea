/**
 * Runs other code against the replies of a past execution: each call gets the reply that the same call had then. So a
 * program can be repaired, and a skill tested, with real data and without any upstream.
 */

import type { AnalysisResult } from "../../analysis/index.ts";
import { callsOverrun } from "../../bridge/index.ts";
import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type { Json, Limits, Namespace, Reply } from "../../domain/index.ts";
import type { Delivery, GuestHost, Tape } from "../../sandbox/index.ts";

import type { JournaledDelivery } from "../journal.ts";
import { settleRefusal } from "../settle.ts";
import type { KeptExecution } from "./kept.ts";
import { replay, runAgain } from "./replay.ts";
import type { ReplayResult, ReplayDeps } from "./replay.ts";
import { traceReplay, parseFailure } from "./trace-replay.ts";
import type { ReplayTrace } from "./trace-replay.ts";

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

type Answers = Map<string, JournaledDelivery[]>;

/** In the order of delivery. Arguments are compared as values, without regard to the order of keys. */
function groupAnswers(deliveries: readonly JournaledDelivery[], requests: ReadonlyMap<number, string>): Answers {
  const answers: Answers = new Map();
  for (const one of deliveries) {
    const text = one.call && requests.get(one.call.record.seq);
    if (text === undefined) continue;
    const key = keyOf(text);
    answers.set(key, [...(answers.get(key) ?? []), one]);
  }
  return answers;
}

function keyOf(text: string): string {
  const cut = text.indexOf("\n");
  const args = text.slice(cut + 1);
  return `${text.slice(0, cut)}\n${args === "" ? "" : canonicalJson(parseArguments(args))}`;
}

/** The guest side serialized it. */
function parseArguments(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
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
