/** Finds the tools that an execution used before: their servers may take a while, but the definitions must be unchanged. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, parseToolAddress } from "../../domain/index.ts";
import type { CatalogSnapshot, Digest } from "../../domain/index.ts";
import { MINUTE_MS } from "../../timing/index.ts";

/** A tool that a call used, or that an approval is about, with its definition at that time. */
export interface UsedTool {
  readonly tool: string;
  readonly seq: number;
  /** Absent when no such tool existed. */
  readonly definition?: Digest | undefined;
}

/** Servers that start together with the gateway may be slower than it. */
const PATIENCE_MS = MINUTE_MS;
const RETRY_MS = 500;

/** An upstream does not answer, or the gateway closes; the definitions of its tools are not known. */
export class UpstreamUnavailable extends GloveboxError {}

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
  while (used.some((one) => hasNoTools(snapshot, one)) && performance.now() < deadline) {
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    snapshot = await take();
  }
  const missed = used.find((one) => hasNoTools(snapshot, one));
  if (missed) throw upstreamUnavailable(missed);
  for (const one of used) refuseChanged(snapshot, one);
  return snapshot;
}

/** True when the tool's server is configured and lists no tools at all, so it has not answered yet. */
export function hasNoTools({ namespaces, withheld }: CatalogSnapshot, { tool, definition }: UsedTool): boolean {
  const address = parseToolAddress(tool);
  if (definition === undefined || (address && withheld?.has(address))) return false;
  return namespaces.some(({ name, tools }) => tools.length === 0 && tool.startsWith(`${name}.`));
}

/** The program was written, and its calls approved, for the earlier definition. */
function refuseChanged(snapshot: CatalogSnapshot, { tool, seq, definition }: UsedTool): void {
  if (definition === undefined || tool.startsWith("glovebox.")) return;
  const address = parseToolAddress(tool);
  const now = address && (snapshot.tools.get(address) ?? snapshot.hidden?.get(address))?.digest;
  if (now === definition) return;
  const isChanged = now !== undefined || (address !== undefined && snapshot.withheld?.has(address) === true);
  const what = isChanged ? "has another definition now" : "no longer exists";
  throw new GloveboxError("REPLAY_DIVERGED", `${tool}, which call ${seq} used, ${what}`, {
    hint: "Check it with `glovebox servers`, and run the program again from the start",
  });
}

function upstreamUnavailable({ tool, seq }: UsedTool): UpstreamUnavailable {
  const message = `The server of ${tool}, which call ${seq} used, is unavailable; the execution resumes when it is back`;
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", message, {
    hint: "Check it with `glovebox servers`, or stop waiting with `glovebox executions cancel`",
  });
}

/** The gateway closes before the execution could resume. */
export function gatewayClosing(): UpstreamUnavailable {
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", "The execution resumes when Glovebox runs again");
}
