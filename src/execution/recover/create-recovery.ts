/** How executions come back in this process: after a decision, after a restart, and when somebody asks for one. */

import type { ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import { awaitServers } from "../resume/await-upstreams.ts";
import { bringBack, bringBackOne, goOnIfDecided } from "./recover-executions.ts";
import type { BringBackRooms } from "./recover-executions.ts";
import type { Endings } from "../run/shutdown.ts";
import type { Running } from "../run/running-table.ts";
import { revive } from "../resume/resume-execution.ts";
import type { ReviveOptions, ReviveRooms } from "../resume/resume-execution.ts";

export interface ReturnsOptions {
  readonly rooms: ReviveRooms & Omit<BringBackRooms, "revive" | "awaitServers">;
  readonly running: Running;
  readonly endings: Endings;
}

export interface Returns {
  /** At a start: what earlier processes left open ends, or goes on. */
  readonly recover: () => Promise<void>;
  /** If it was put away and somebody has decided, it goes on. Never rejects. */
  readonly goOn: (execution: ExecutionId) => Promise<void>;
  /** The same for a process that does not stay, because a person wants it; rejects when it cannot be done. */
  readonly takeUp: (execution: ExecutionId) => Promise<void>;
  /** For one whose process is dead: how it ended, or nothing when it goes on. */
  readonly bringBack: (stored: StoredExecution) => Promise<ExecutionResult | undefined>;
}

type How = Pick<ReviveOptions, "why" | "read">;

/** Nobody who could cancel them is there. */
const NEVER = new AbortController().signal;

export function createReturns({ rooms, running, endings }: ReturnsOptions): Returns {
  const returning = new Set<ExecutionId>();
  const follow = (stored: StoredExecution, how: How): Promise<ExecutionResult | undefined> =>
    endings.guard(NEVER, (signal) =>
      running.follow(
        { principal: stored.principal, signal },
        { run: (followed) => revive(stored, { ...how, ...followed }, rooms), resultOf: (revived) => revived },
      ),
    );
  const awaited = new Set<ExecutionId>();
  const backRooms: BringBackRooms = {
    ...rooms,
    async awaitServers(stored) {
      if (awaited.has(stored.id)) return false;
      awaited.add(stored.id);
      return awaitServers(stored, rooms).finally(() => awaited.delete(stored.id));
    },
    async revive(stored, why, read) {
      // The store tells processes apart, but not two runs of one process.
      if (returning.has(stored.id) || (!stored.ending && running.find(stored.id))) return undefined;
      returning.add(stored.id);
      const result = await follow(stored, { why, ...(read && { read }) }).finally(() => returning.delete(stored.id));
      if (result?.state === "paused") void goOn(stored.id);
      return result;
    },
  };
  const goOn = async (id: ExecutionId): Promise<void> => {
    if (!rooms.isLasting || rooms.leaving.aborted) return;
    await goOnIfDecided(id, backRooms).catch((thrown: unknown) => void rooms.report(thrown));
  };
  return {
    recover: () => bringBack(backRooms),
    goOn,
    takeUp: (id) => goOnIfDecided(id, backRooms),
    bringBack: (stored) => bringBackOne(stored, backRooms),
  };
}
