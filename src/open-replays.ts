/** Shows past executions again: a sandbox and nothing else is opened for it. */

import { analyze } from "./analysis/index.ts";
import type { Settings } from "./config/index.ts";
import type { ExecutionId } from "./domain/index.ts";
import { findKept, openJournals, replay, replayChanged, toRecordingFile } from "./execution/index.ts";
import type { ReplayChangedDeps, KeptExecution, ReplayResult } from "./execution/index.ts";
import { openReaper } from "./processes/index.ts";
import { confineEngine, openSandbox } from "./sandbox/index.ts";
import { createSeed, mask, reportIncident, timebox } from "./host-powers.ts";
import { hideKnown } from "./open-approvals.ts";
import { VERSION, chooseEngine } from "./open-gateway.ts";
import { createVault, openRecords } from "./open-records.ts";
import type { ReplayPowers, ReplayRequest } from "./surfaces/index.ts";

/** From the store, once it is in the ledger who looked. Throws as `findKept` of the execution room does. */
async function findKeptAlone(
  settings: Settings,
  id: ExecutionId,
  { actor, action }: { readonly actor: string; readonly action: "execution.exported" | "execution.replayed" },
): Promise<KeptExecution> {
  const { store, ledger, close } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  try {
    await vault.ready();
    await hideKnown(settings, vault);
    const journals = openJournals({
      store: store.journals,
      seal: await vault.openSeal(),
      now: Date.now,
      ...settings.journal,
    });
    const kept = await findKept(id, { store, journals });
    await ledger.write({ actor, action, subject: id, detail: { source: kept.execution.source } });
    return kept;
  } finally {
    await vault.close();
    await close();
  }
}

/** As a document for `executions export`. */
function toExport(kept: KeptExecution): ReturnType<typeof toRecordingFile> {
  return toRecordingFile(kept, { version: VERSION, hide: mask.hide });
}

/** On the engine that it ran on, unless the request names another. */
export async function replayAlone(
  settings: Settings,
  kept: KeptExecution,
  request: ReplayRequest,
): Promise<ReplayResult> {
  const { limits } = kept.recording.request;
  const { isolation } = settings.sandbox;
  await using opened = new AsyncDisposableStack();
  const engine = await confineEngine(chooseEngine(request.engine ?? kept.recording.started.engine), isolation);
  const keeper = opened.use(openReaper());
  const powers = { now: Date.now, seed: createSeed };
  const sandbox = opened.use(openSandbox({ engine, keeper, concurrency: 1, queue: 1, limits, ...powers }));
  const rooms: ReplayChangedDeps = {
    engine: sandbox.engine,
    isolation: sandbox.isolation,
    report: reportIncident,
    hide: mask.hide,
    run: (job) => sandbox.run(job),
    analyze: (source, namespaces, within) =>
      analyze(source, { namespaces }, { ...settings.analysis, limits: within, timebox }),
  };
  const { code, signal, until } = request;
  if (code !== undefined) return await replayChanged(kept, { code, signal }, rooms);
  return await replay(kept, { signal, ...(until !== undefined && { until }) }, rooms);
}

/** For the command line. */
export const replays: ReplayPowers = { find: findKeptAlone, toFile: toExport, show: replayAlone };
