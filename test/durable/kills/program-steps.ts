/**
 * Tracks programs from one kill of their gateway to the next, by their stored records and the requests that reached the
 * shop.
 */

import type { Settings } from "../../../src/config/index.ts";
import type { Digest, ExecutionId } from "../../../src/domain/index.ts";
import { isOver, openStoreRecords, readProgress, readRows, verify } from "./read-records.ts";
import type { ExecutionRow } from "./read-records.ts";
import { digestOfRequest } from "./kill-programs.ts";
import type { McpShopServer } from "./mcp-shop-server.ts";

/** The step of a program when its gateway was killed. */
export type Step = "unknown" | "opened" | "running" | "calling" | "waiting" | "ended";

export interface StepLog {
  /** Executions that a kill interrupted. */
  readonly interrupted: ReadonlySet<ExecutionId>;
  /** How many programs a kill interrupted at each step. */
  readonly steps: ReadonlyMap<Step, number>;
  /** Called after a kill. Returns the problems. */
  check(): Promise<readonly string[]>;
}

interface StepLogInput {
  readonly seeds: readonly number[];
  readonly settings: Settings;
  readonly shop: Pick<McpShopServer, "received">;
}

/** A call whose response is in a journal must never be repeated. */
export function createStepLog({ seeds, settings, shop }: StepLogInput): StepLog {
  const met = new Set<ExecutionId>();
  const steps = new Map<Step, number>();
  const kept = new Set<Digest>();
  let looked = 0;
  const look = async (): Promise<readonly string[]> => {
    const wrong = [...(await verify(settings))];
    const fresh = shop.received.slice(looked);
    looked = shop.received.length;
    wrong.push(...fresh.filter((one) => kept.has(digestOfRequest(one))).map((one) => `${one} is asked for again`));
    const rows = new Map(readRows(settings).map((row) => [row.seed, row]));
    await using opened = await openStoreRecords(settings);
    for (const seed of seeds) {
      const row = rows.get(seed);
      const progress = row && (await readProgress(row.id, opened));
      for (const digest of progress?.answered ?? []) kept.add(digest);
      const isCalling = (): boolean => fresh.some((one) => isFrom(one, seed) && !kept.has(digestOfRequest(one)));
      const step = stepOf(row, progress?.hasBegun ?? false, isCalling);
      steps.set(step, (steps.get(step) ?? 0) + 1);
      if (row && !isOver(row)) met.add(row.id);
    }
    return wrong;
  };
  return { interrupted: met, steps, check: look };
}

function isFrom(request: string, seed: number): boolean {
  return request.split(" ")[1] === String(seed);
}

function stepOf(row: ExecutionRow | undefined, hasBegun: boolean, isCalling: () => boolean): Step {
  if (!row) return "unknown";
  if (isOver(row)) return "ended";
  if (row.state === "paused") return "waiting";
  if (!hasBegun) return "opened";
  return isCalling() ? "calling" : "running";
}
