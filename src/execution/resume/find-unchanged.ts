/** Finds the tools again that an execution knew: they may take a while to come back, but must not have changed. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import type { CatalogSnapshot, Digest, ToolAddress } from "../../domain/index.ts";

/** A tool that a call used, or that a person was asked about, as it was defined then. */
export interface UsedTool {
  readonly tool: string;
  readonly seq: number;
  /** Left out for what was none. */
  readonly definition?: Digest | undefined;
}

/** Servers that start together with the gateway are not lost because they are slower. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 500;

/** A server of the execution is not there: that says nothing about its tools. */
export class UpstreamUnavailable extends GloveboxError {}

/**
 * Throws `REPLAY_DIVERGED` with the first that changed or is gone, or `ServerAway` when a server has not come back in
 * time; `take` rejects when nobody waits any more.
 */
export async function findUnchangedTools(
  known: readonly UsedTool[],
  take: () => Promise<CatalogSnapshot>,
  signal: AbortSignal,
): Promise<CatalogSnapshot> {
  const deadline = performance.now() + PATIENCE_MS;
  let snapshot = await take();
  while (known.some((one) => hasNoTools(snapshot, one)) && performance.now() < deadline) {
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    snapshot = await take();
  }
  const missed = known.find((one) => hasNoTools(snapshot, one));
  if (missed) throw upstreamUnavailable(missed);
  for (const one of known) refuseChanged(snapshot, one);
  return snapshot;
}

/** Its server is known and offers nothing at all, so it has not been heard yet. */
export function hasNoTools({ namespaces, withheld }: CatalogSnapshot, { tool, definition }: UsedTool): boolean {
  if (definition === undefined || withheld?.has(parseAddress(tool))) return false;
  return namespaces.some(({ name, tools }) => tools.length === 0 && tool.startsWith(`${name}.`));
}

/** Whoever approved a call, or wrote the program, knew another tool by this name. */
function refuseChanged(snapshot: CatalogSnapshot, { tool, seq, definition }: UsedTool): void {
  if (definition === undefined || tool.startsWith("glovebox.")) return;
  const address = parseAddress(tool);
  const now = (snapshot.tools.get(address) ?? snapshot.hidden?.get(address))?.digest;
  if (now === definition) return;
  const isChanged = now !== undefined || snapshot.withheld?.has(address) === true;
  const what = isChanged ? "has another definition now" : "is not offered any more";
  throw new GloveboxError("REPLAY_DIVERGED", `${tool}, which call ${seq} used, ${what}`, {
    hint: "Look at it with `glovebox servers`, and run the program again from the start",
  });
}

function upstreamUnavailable({ tool, seq }: UsedTool): UpstreamUnavailable {
  const message = `The server of ${tool}, which call ${seq} used, is not there; the execution goes on when it is back`;
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", message, {
    hint: "Look at it with `glovebox servers`; `glovebox executions cancel` ends the waiting",
  });
}

/** The gateway ends before the execution could go on. */
export function gatewayClosing(): UpstreamUnavailable {
  return new UpstreamUnavailable("UPSTREAM_UNREACHABLE", "The execution goes on when Glovebox runs again");
}

/** A record's name of a tool: it was one then. */
function parseAddress(tool: string): ToolAddress {
  return tool as ToolAddress;
}
