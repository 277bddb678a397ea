/** How executions come back in this process: after a decision, after a restart, and when somebody asks for one. */

import type { ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import { awaitUpstreams } from "../resume/await-upstreams.ts";
import { recoverAll, recoverOne, resumeIfDecided as resumeDecided } from "./recover-executions.ts";
import type { RecoverAllDeps } from "./recover-executions.ts";
import type { Shutdown } from "../run/shutdown.ts";
import type { RunningTable } from "../run/running-table.ts";
import { resumeExecution } from "../resume/resume-execution.ts";
import type { ResumeOptions, ResumeDeps } from "../resume/resume-execution.ts";

export interface RecoveryOptions {
  readonly rooms: ResumeDeps & Omit<RecoverAllDeps, "resumeExecution" | "awaitUpstreams">;
  readonly running: RunningTable;
  readonly endings: Shutdown;
}

export interface Recovery {
  /** At a start: what earlier processes left open ends, or goes on. */
  readonly recoverAll: () => Promise<void>;
  /** If it was put away and somebody has decided, it goes on. Never rejects. */
  readonly resumeIfDecided: (execution: ExecutionId) => Promise<void>;
  /** The same for a process that does not stay, because a person wants it; rejects when it cannot be done. */
  readonly resumeNow: (execution: ExecutionId) => Promise<void>;
  /** For one whose process is dead: how it ended, or nothing when it goes on. */
  readonly recoverOne: (stored: StoredExecution) => Promise<ExecutionResult | undefined>;
}

type How = Pick<ResumeOptions, "why" | "read">;

/** Nobody who could cancel them is there. */
const NEVER = new AbortController().signal;

export function createRecovery({ rooms, running, endings }: RecoveryOptions): Recovery {
  const returning = new Set<ExecutionId>();
  const follow = (stored: StoredExecution, how: How): Promise<ExecutionResult | undefined> =>
    endings.track(NEVER, (signal) =>
      running.follow(
        { principal: stored.principal, signal },
        { run: (followed) => resumeExecution(stored, { ...how, ...followed }, rooms), resultOf: (resumed) => resumed },
      ),
    );
  const awaited = new Set<ExecutionId>();
  const backRooms: RecoverAllDeps = {
    ...rooms,
    async awaitUpstreams(stored) {
      if (awaited.has(stored.id)) return false;
      awaited.add(stored.id);
      return awaitUpstreams(stored, rooms).finally(() => awaited.delete(stored.id));
    },
    async resumeExecution(stored, why, read) {
      // The store tells processes apart, but not two runs of one process.
      if (returning.has(stored.id) || (!stored.ending && running.find(stored.id))) return undefined;
      returning.add(stored.id);
      const result = await follow(stored, { why, ...(read && { read }) }).finally(() => returning.delete(stored.id));
      if (result?.state === "paused") void resumeIfDecided(stored.id);
      return result;
    },
  };
  const resumeIfDecided = async (id: ExecutionId): Promise<void> => {
    if (!rooms.isLasting || rooms.leaving.aborted) return;
    await resumeDecided(id, backRooms).catch((thrown: unknown) => void rooms.report(thrown));
  };
  return {
    recoverAll: () => recoverAll(backRooms),
    resumeIfDecided,
    resumeNow: (id) => resumeDecided(id, backRooms),
    recoverOne: (stored) => recoverOne(stored, backRooms),
  };
}
