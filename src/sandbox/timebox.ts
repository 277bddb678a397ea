/** Ends synchronous work of the host that takes too long. */

import { Script, createContext } from "node:vm";

/** A program whose types take longer to strip was written to stall the gateway. */
const STRIP_MS = 500;

/** Created once: a context costs more than most of the work that runs in it. */
const sandboxed: { work: unknown } = { work: undefined };
const watched = createContext(sandboxed);
const callWork = new Script("work()");

/** Throws when `work` takes too long, also inside WebAssembly: the engine's own watchdog interrupts the thread. */
export function timebox<R>(work: () => R): R {
  watched["work"] = work;
  try {
    return trustResult(work, callWork.runInContext(watched, { timeout: STRIP_MS }));
  } finally {
    watched["work"] = undefined;
  }
}

/** The script returns what `work` returned. */
function trustResult<R>(_work: () => R, value: unknown): R {
  return value as R;
}
