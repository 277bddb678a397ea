/** Connects engine, pool and running programs. */

import type { ChildKeeper, Limits } from "../domain/index.ts";
import { ownerOf } from "../timing/index.ts";

import type { ConfinedEngine } from "./engine.ts";
import { ChildPool } from "./pool/child-pool.ts";
import { mostValueBytes } from "./program/overruns.ts";
import { toFatal } from "./program/parse-reports.ts";
import { RunningProgram } from "./program/running-program.ts";
import type { ProgramEnding, Sandbox, SandboxJob, SandboxResult } from "./sandbox.ts";
import type { ChildLease } from "./child-lease.ts";
import { openWatchdog } from "./watchdog.ts";

/** A guest counts characters of up to this many bytes; the host counts exactly. */
const BYTES_PER_CHARACTER = 3;
/** Room for data without a limit: error messages and tool names. */
const FRAME_MARGIN_BYTES = 256 * 1024;

export interface SandboxOptions {
  readonly engine: ConfinedEngine;
  readonly keeper: ChildKeeper;
  readonly concurrency: number;
  readonly queue: number;
  /** How many children are started before the first program: by default one. */
  readonly warm?: number;
  /** The default limits; isolates are prepared for these. */
  readonly limits: Limits;
  readonly now: () => number;
  /** Four random 32-bit numbers, for a job without a seed. */
  readonly seed: () => readonly number[];
  /** For tests: the step of the next program at which it asks for the faster engine. */
  readonly switchAtStep?: () => number | undefined;
}

export function openSandbox(options: SandboxOptions): Sandbox {
  const { engine, limits, seed, now } = options;
  const { name, startsOn = name } = engine;
  /** A program that has run continues on its engine; what is not known ran on a V8 isolate. */
  const isFast = ({ program, tape }: SandboxJob): boolean =>
    tape?.engine === undefined ? program.route === "isolate" : tape.engine !== startsOn;
  const watchdog = openWatchdog();
  const pool = new ChildPool({
    ...options,
    usualMemoryBytes: limits.memoryBytes,
    maxFrameBytes: Math.max(limits.argumentBytes, mostValueBytes(limits)) * BYTES_PER_CHARACTER + FRAME_MARGIN_BYTES,
  });

  const close = (): Promise<void> => pool.close();
  return {
    engine: engine.name,
    isolation: engine.isolation,
    layers: engine.layers,
    async run(job) {
      const queuedAt = performance.now();
      let lease: ChildLease;
      try {
        const { principal, session, isResumed = false, signal } = job;
        const owner = ownerOf({ id: principal, session });
        lease = await pool.take({ owner, isWaking: isResumed, isFast: isFast(job) }, signal);
      } catch (thrown) {
        return neverStarted(thrown, performance.now() - queuedAt, engine);
      }
      const queueMs = performance.now() - queuedAt;
      const switchAtStep = options.switchAtStep?.();
      return new RunningProgram({ lease, job, queueMs, watchdog, seed, now, switchAtStep }).outcome;
    },
    checkQueue: (coming, { principal, session }) => pool.checkQueue(coming, ownerOf({ id: principal, session })),
    load: () => pool.load(),
    state: () => pool.state(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function neverStarted(thrown: unknown, queueMs: number, { name }: ConfinedEngine): SandboxResult {
  const error = toFatal(thrown);
  const ending: ProgramEnding = error.code === "REQUEST_CANCELLED" ? { kind: "cancelled" } : { kind: "failed", error };
  const usage = { queueMs, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, outputBytes: 0, switches: 0 };
  return { ending, logs: [], usage, engine: name };
}
