/** `console` inside the isolate: each line becomes a frame for the host, counted against the output limit. */

import { LOG_LEVELS, TO_HOST } from "../src/sandbox/wire.ts";
import { EncodeProblem } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";
import { formatLine } from "./format.ts";
import { freeze } from "./intrinsics.ts";
import type { Send } from "./tools.ts";

/** The methods that programs use; those that measure time or count have no place where the clock stands still. */
export function createConsole(send: Send, limits: () => EncodeLimits): object {
  const write = (level: number, args: readonly unknown[]): void => {
    try {
      const line = formatLine(args, limits());
      // A text that cannot fit is refused here, before it is copied out of the isolate.
      if (line.length > limits().bytes) send(TO_HOST.OVERRUN, 0, "output");
      else send(TO_HOST.LOG, level, line);
    } catch (problem) {
      if (!(problem instanceof EncodeProblem)) throw problem;
      send(TO_HOST.OVERRUN, 0, "output");
    }
  };
  const at = (level: (typeof LOG_LEVELS)[number]) => {
    const index = LOG_LEVELS.indexOf(level);
    return (...args: unknown[]): void => write(index, args);
  };
  const log = at("log");
  const error = at("error");
  return freeze({
    log,
    info: at("info"),
    warn: at("warn"),
    error,
    debug: at("debug"),
    trace: at("debug"),
    dir: (value: unknown): void => log(value),
    table: (value: unknown): void => log(value),
    assert: (claim: unknown, ...args: unknown[]): void => {
      if (!claim) error("Assertion failed", ...args);
    },
  });
}
