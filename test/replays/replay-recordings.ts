/** Replays recordings on every engine, with nothing but sandboxes, and reports differences. */

import type { EngineName, ExecutionResult, Json, Limits } from "../../src/domain/index.ts";
import { replay } from "../../src/execution/replay/replay.ts";
import type { KeptExecution, ReplayResult } from "../../src/execution/index.ts";
import { isCutOff } from "../../src/execution/replay/find-difference.ts";
import { openTestSandbox } from "../../src/sandbox/fixtures/test-sandbox.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import type { Recording } from "./read-stores.ts";
import { REASONS, explain } from "./difference-reasons.ts";
import type { Reason } from "./difference-reasons.ts";

/**
 * Only the beginning of an execution that was ended from outside is compared; the replay does not wait for an endless
 * loop.
 */
const CUT_OFF_MS = 3_000;
const SIGNAL = new AbortController().signal;

/** The outcome of a replay on one engine. */
export type ReplayOutcome =
  | { readonly kind: "same" }
  | { readonly kind: "explained"; readonly reason: Reason }
  | { readonly kind: "different"; readonly what: string };

/** Recordings with the same limits share a sandbox, because starting one takes longer than most programs. */
export interface Replayer extends AsyncDisposable {
  replay(recorded: Recording, engine: EngineName): Promise<ReplayOutcome>;
}

export function openReplayer(): Replayer {
  const opened = new Map<string, Promise<Sandbox>>();
  const sandboxFor = (engine: EngineName, limits: Limits): Promise<Sandbox> => {
    const { memoryBytes, argumentBytes, resultBytes, outputBytes } = limits;
    const key = JSON.stringify([engine, memoryBytes, argumentBytes, resultBytes, outputBytes]);
    const sandbox = opened.get(key) ?? openTestSandbox({ limits }, engine).then((made) => made.sandbox);
    opened.set(key, sandbox);
    return sandbox;
  };
  return {
    replay: async ({ kept, hide }, engine) => {
      const bounded = withBound(kept);
      const sandbox = await sandboxFor(engine, bounded.recording.request.limits);
      return classify(bounded, await showOn(sandbox, { kept: bounded, hide }));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...opened.values()].map(async (sandbox) => (await sandbox).close()));
    },
  };
}

function withBound(kept: KeptExecution): KeptExecution {
  if (kept.result && !isCutOff(kept.result)) return kept;
  const { request } = kept.recording;
  const limits = { ...request.limits, wallMs: Math.min(request.limits.wallMs, CUT_OFF_MS) };
  return { ...kept, recording: { ...kept.recording, request: { ...request, limits } } };
}

function showOn(sandbox: Sandbox, { kept, hide }: Pick<Recording, "kept" | "hide">): Promise<ReplayResult> {
  const { engine, isolation } = sandbox;
  const report = (thrown: unknown): string => {
    throw new Error("A replay reported an incident", { cause: thrown });
  };
  return replay(kept, { signal: SIGNAL }, { engine, isolation, report, hide, run: (job) => sandbox.run(job) });
}

function classify({ result: first }: KeptExecution, { result: again, difference }: ReplayResult): ReplayOutcome {
  if (!first && difference === undefined) return { kind: "explained", reason: REASONS.notEnded };
  const isPart = !first || isCutOff(first);
  const what = difference ?? (isPart ? undefined : findRest(first, again));
  if (what === undefined) return isPart ? { kind: "explained", reason: REASONS.cutOff } : { kind: "same" };
  const reason = first && explain({ first, again, difference: what, engine: again.engine });
  return reason ? { kind: "explained", reason } : { kind: "different", what };
}

/** Compares what the product does not. Labels depend on the session, so there may be more of them the first time. */
function findRest(first: ExecutionResult, again: ExecutionResult): string | undefined {
  const [before, now] = [restOf(first), restOf(again)].map((rest) => JSON.stringify(rest));
  return before === now ? undefined : `The rest was ${before} and is ${now}`;
}

function restOf({ findings, dryRun, truncated, calls }: ExecutionResult): Json {
  const rest = { findings, dryRun, truncated, calls: calls.map(({ ms: _, ...call }) => call) };
  return JSON.parse(JSON.stringify(rest)) as Json;
}
