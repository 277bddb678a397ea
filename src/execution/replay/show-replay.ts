/** Shows a past execution again: opens a sandbox for it and nothing else. */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import { defined } from "../../domain/index.ts";
import type { ChildKeeper, EngineName, ExecutionId, Instant } from "../../domain/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { confineEngine, createEngine, openSandbox } from "../../sandbox/index.ts";
import type { SandboxJob } from "../../sandbox/index.ts";

import { findKept } from "./kept.ts";
import type { KeptDeps, KeptExecution } from "./kept.ts";
import { replayChanged } from "./replay-changed.ts";
import { replay } from "./replay.ts";
import type { ReplayResult } from "./replay.ts";

export interface ReplayRequest {
  readonly signal: AbortSignal;
  /** Stops after the call with this number. Not together with `code`. */
  readonly until?: number;
  /** Runs this code against the recorded answers. */
  readonly code?: string;
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
  { code, signal, until, engine = kept.recording.started.engine }: ReplayRequest,
  options: ShowReplayOptions,
): Promise<ReplayResult> {
  const { analysis, report, hide, keeper, now, createSeed: seed } = options;
  const { limits: bounds } = kept.recording.request;
  const confined = await confineEngine(createEngine(engine, options.node), options.isolation);
  await using sandbox = openSandbox({ engine: confined, keeper, concurrency: 1, queue: 1, limits: bounds, now, seed });
  const deps = {
    engine: sandbox.engine,
    isolation: sandbox.isolation,
    report,
    hide,
    run: (job: SandboxJob) => sandbox.run(job),
  };
  if (code === undefined) return await replay(kept, { signal, ...defined({ until }) }, deps);
  const analyzeCode: Parameters<typeof replayChanged>[2]["analyze"] = (source, namespaces, limits) =>
    analyze(source, { namespaces }, { ...analysis, limits });
  return await replayChanged(kept, { code, signal }, { ...deps, analyze: analyzeCode });
}

/** Who looks at a recording, and what for. */
export interface RecordingAccess {
  readonly actor: string;
  readonly action: "execution.exported" | "execution.replayed";
}

/** Finds a recording and writes to the ledger who looked, before it is returned. Throws as `findKept`. */
export async function findRecording(
  id: ExecutionId,
  { actor, action }: RecordingAccess,
  { ledger, ...deps }: KeptDeps & { readonly ledger: Pick<Ledger, "write"> },
): Promise<KeptExecution> {
  const kept = await findKept(id, deps);
  await ledger.write({ actor, action, subject: id, detail: { source: kept.execution.source } });
  return kept;
}
