/** What an execution waits for before it resumes: the upstreams of its tools, unchanged, and a free sandbox. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, parseToolAddress } from "../../domain/index.ts";
import type { Approval, CatalogSnapshot, Digest } from "../../domain/index.ts";
import type { SandboxJob, Tape } from "../../sandbox/index.ts";
import type { StoredExecution } from "../../store/index.ts";
import { MINUTE_MS, SECOND_MS } from "../../timing/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import type { Recording } from "../journal.ts";

/** A tool that a call used, or that an approval is about, with its definition at that time. */
interface UsedTool {
  readonly tool: string;
  readonly seq: number;
  /** Absent when no such tool existed. */
  readonly definition?: Digest | undefined;
}

/** Servers that start together with the gateway may be slower than it. */
const PATIENCE_MS = MINUTE_MS;
const RETRY_MS = 500;
const AWAY_POLL_MS = SECOND_MS;
const BUSY_POLL_MS = 100;

/** An upstream does not answer, or the gateway closes; the definitions of its tools are not known. */
export class UpstreamUnavailable extends GloveboxError {}

/** Every tool that it used, or that an approval is about. */
export function listUsedTools(recording: Recording, approvals: readonly Approval[]): readonly UsedTool[] {
  const { deliveries, frames = [] } = recording;
  const used = deliveries.flatMap(({ call }) => (call ? [{ ...call.record, definition: call.definition }] : []));
  return [...used, ...frames, ...approvals];
}

/** The skills that it names, or called, with their definitions at its start. */
export function listBegunSkills({ started, frames = [] }: Recording): ReadonlyMap<string, Digest> {
  const called = frames.map(({ tool, definition }): [string, Digest] => [tool, definition]);
  return new Map([...Object.entries(started?.skills ?? {}), ...called]);
}

/**
 * Throws `REPLAY_DIVERGED` for the first tool that changed or is gone, or `UpstreamUnavailable` when a server is not back
 * in time. `take` rejects when the execution is cancelled.
 */
export async function findUnchangedTools(
  used: readonly UsedTool[],
  take: () => Promise<CatalogSnapshot>,
  signal: AbortSignal,
): Promise<CatalogSnapshot> {
  const deadline = performance.now() + PATIENCE_MS;
  let snapshot = await take();
  while (findAway(snapshot, used) && performance.now() < deadline) {
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    snapshot = await take();
  }
  const away = findAway(snapshot, used);
  if (away) throw upstreamAway(away);
  for (const one of used) refuseChanged(snapshot, one);
  return snapshot;
}

/** The first tool whose server is configured and lists no tools at all, so it has not answered yet. */
function findAway({ namespaces, withheld, refused }: CatalogSnapshot, used: readonly UsedTool[]): UsedTool | undefined {
  return used.find(({ tool, definition }) => {
    const address = parseToolAddress(tool);
    if (definition === undefined || (address && (withheld?.has(address) || refused?.has(address)))) return false;
    return namespaces.some(({ name, tools }) => tools.length === 0 && tool.startsWith(`${name}.`));
  });
}

/** The program was written, and its calls approved, for the earlier definition. */
function refuseChanged(snapshot: CatalogSnapshot, { tool, seq, definition }: UsedTool): void {
  if (definition === undefined || tool.startsWith("glovebox.")) return;
  const address = parseToolAddress(tool);
  const refusal = address && snapshot.refused?.get(address);
  if (refusal) throw new GloveboxError(refusal.code, refusal.message, { hint: refusal.hint });
  const now = address && (snapshot.tools.get(address) ?? snapshot.hidden?.get(address))?.digest;
  if (now === definition) return;
  const isChanged = now !== undefined || (address !== undefined && snapshot.withheld?.has(address) === true);
  const what = isChanged ? "has another definition now" : "no longer exists";
  throw new GloveboxError("REPLAY_DIVERGED", `${tool}, which call ${seq} used, ${what}`, {
    hint: "Check it with `glovebox servers`, and run the program again from the start",
  });
}

function upstreamAway({ tool, seq }: UsedTool): UpstreamUnavailable {
  const message = `The server of ${tool}, which call ${seq} used, is unavailable; the execution resumes when it is back`;
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", message, {
    hint: "Check it with `glovebox servers`, or stop waiting with `glovebox executions cancel`",
  });
}

/** The gateway closes before the execution could resume. */
export function gatewayClosing(): UpstreamUnavailable {
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", "The execution resumes when Glovebox runs again");
}

type AwaitDeps = Pick<ExecutionDeps, "approvals" | "journals" | "snapshot" | "store"> & {
  readonly leaving: AbortSignal;
};

/**
 * Waits for the upstreams of an execution that was suspended because one was unavailable. Writes no records meanwhile.
 * Returns false when this process should not resume it: the gateway closes, or it is no longer suspended as it was.
 */
export async function awaitUpstreams(stored: StoredExecution, deps: AwaitDeps): Promise<boolean> {
  const { id, owner, ending } = stored;
  const recording = await deps.journals.read(id).catch(() => undefined);
  if (!recording) return true; // resuming reports what is wrong with the journal
  const used = listUsedTools(recording, await deps.approvals.list({ execution: id }));
  while (!deps.leaving.aborted) {
    const snapshot = await deps.snapshot(recording.request.principal).catch(() => undefined);
    if (snapshot && !findAway(snapshot, used)) return true;
    await sleep(AWAY_POLL_MS, undefined, { signal: deps.leaving }).catch(() => undefined);
    const now = await deps.store.executions.findHead(id);
    const isSame = now?.owner === owner && now?.ending?.endedAt === ending?.endedAt;
    if (now?.ending?.state !== "paused" || !isSame) return false;
  }
  return false;
}

/**
 * Runs jobs of resumed executions once the sandbox has a free place, because no client is there to retry. Throws
 * `UpstreamUnavailable` when the gateway closes first.
 */
export function retryWhileBusy({
  run,
  leaving,
}: Pick<ExecutionDeps, "run"> & { readonly leaving: AbortSignal }): ExecutionDeps["run"] {
  return async (given) => {
    using job = leaveQueue(given, leaving);
    let ran = await run(job);
    // The sandbox returns LIMIT_BUSY only for a program that has not started.
    while (ran.ending.kind === "failed" && ran.ending.error.code === "LIMIT_BUSY" && !job.signal.aborted) {
      await sleep(BUSY_POLL_MS, undefined, { signal: job.signal }).catch(() => undefined);
      ran = await run(job);
    }
    if (leaving.aborted && ran.usage.wallMs === 0) throw gatewayClosing();
    return ran;
  };
}

/** The same job, which no longer waits for a place once the gateway closes: a place that becomes free then starts nothing. */
function leaveQueue(job: SandboxJob, leaving: AbortSignal): SandboxJob & Disposable {
  const queued = new AbortController();
  const stopListening = (): void => leaving.removeEventListener("abort", leave);
  const leave = (): void => queued.abort();
  leaving.addEventListener("abort", leave, { once: true });
  const { tape } = job;
  const began: Tape["began"] = (start, engine) => {
    stopListening();
    tape?.began(start, engine);
  };
  return {
    ...job,
    signal: AbortSignal.any([job.signal, queued.signal]),
    ...(tape && { tape: { ...tape, began } }),
    [Symbol.dispose]: stopListening,
  };
}
