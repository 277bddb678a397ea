/** Shows a past execution again: opens a sandbox for it and nothing else. */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import { defined } from "../../domain/index.ts";
import type { EngineName, ExecutionId, Limits } from "../../domain/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Sandbox, SandboxJob } from "../../sandbox/index.ts";

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
  readonly openSandbox: (engine: EngineName, limits: Limits) => Promise<Sandbox>;
  readonly analysis: Omit<AnalysisOptions, "limits">;
  readonly report: (thrown: unknown) => string;
  readonly hide: (text: string) => string;
}

export async function showReplay(
  kept: KeptExecution,
  { code, signal, until, engine = kept.recording.started.engine }: ReplayRequest,
  { openSandbox, analysis, report, hide }: ShowReplayOptions,
): Promise<ReplayResult> {
  await using sandbox = await openSandbox(engine, kept.recording.request.limits);
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
