/** Ends synchronous work of the host that takes too long. */

import { Script, createContext } from "node:vm";

/** A program whose types take longer to strip was written to stall the gateway. */
const STRIP_MS = 500;
/** On a busy machine this thread may not run for a while, so work that computed for less than half of its time has more. */
const BUSY_MS = 4 * STRIP_MS;

/** Created once: a context costs more than most of the work that runs in it. */
const sandboxed: { work: unknown } = { work: undefined };
const watched = createContext(sandboxed);
const callWork = new Script("work()");

/**
 * Returns nothing when `work` takes too long, also inside WebAssembly: the engine's own watchdog interrupts the thread.
 * Work that was interrupted because the machine is busy starts once more.
 */
export function timebox<R>(work: () => R): { readonly value: R } | undefined {
  const before = process.threadCpuUsage();
  const first = runFor(STRIP_MS, work);
  const { user, system } = process.threadCpuUsage(before);
  return first ?? (user + system > (STRIP_MS / 2) * 1000 ? undefined : runFor(BUSY_MS, work));
}

function runFor<R>(timeout: number, work: () => R): { readonly value: R } | undefined {
  watched["work"] = work;
  try {
    return { value: trustResult(work, callWork.runInContext(watched, { timeout })) };
  } catch (thrown) {
    // An error of the watchdog is of another realm.
    const isLate = typeof thrown === "object" && thrown !== null && "code" in thrown && thrown.code === LATE;
    if (isLate) return undefined;
    throw thrown;
  } finally {
    watched["work"] = undefined;
  }
}

const LATE = "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** The script returns what `work` returned. */
function trustResult<R>(_work: () => R, value: unknown): R {
  return value as R;
}
