/** The errors of the limits that the sandbox enforces. Each names the limit, its value and the way out. */

import { GloveboxError } from "../../domain/index.ts";
import type { ErrorCode, Limits } from "../../domain/index.ts";

import type { Overrun } from "../wire.ts";

export const MOST_LINES = 10_000;
export const MOST_TIMERS = 1_000;

/** What a child or guest reports about itself, and what only the host sees. */
type Limit = Overrun | "cpu" | "keys" | "lines" | "place" | "timers";

interface LimitError {
  readonly code: ErrorCode;
  readonly message: (limits: Limits, amount: number) => string;
  readonly hint: string;
}

const ERRORS: Readonly<Record<Limit, LimitError>> = {
  wall: {
    code: "LIMIT_TIME",
    message: ({ wallMs }) => `The program ran longer than its limit of ${wallMs} ms (wallMs)`,
    hint: "Look for a loop without end, call tools in parallel with Promise.all, or split the work into several programs",
  },
  place: {
    code: "LIMIT_TIME",
    message: ({ wallMs }) =>
      `The program waited for more than ${wallMs} ms for a free place after a timer or an approval`,
    hint: "Check what it changed, then try again when fewer programs run; an operator can raise sandbox.concurrency",
  },
  cpu: {
    code: "LIMIT_TIME",
    message: ({ cpuMs }, usedMs) => `The program used ${usedMs} ms of processor time; its limit is ${cpuMs} ms (cpuMs)`,
    hint: "Look for a loop without end, or let a tool filter the data before the program sees it",
  },
  memory: {
    code: "LIMIT_MEMORY",
    message: ({ memoryBytes }) =>
      `The program needed more memory than its limit of ${Math.round(memoryBytes / (1024 * 1024))} MB (memoryBytes)`,
    hint: "Keep only the fields you need and work on the data in pieces",
  },
  output: {
    code: "LIMIT_SIZE",
    message: ({ outputBytes }) => `The logs are larger than the limit of ${outputBytes} bytes (outputBytes)`,
    hint: "Log a summary, or return the data as the result",
  },
  result: {
    code: "LIMIT_SIZE",
    message: (limits) => `The result is larger than its limit of ${mostValueBytes(limits)} bytes (resultBytes)`,
    hint: "Return a summary, a count or a selection instead of everything",
  },
  depth: {
    code: "LIMIT_SIZE",
    message: ({ depth }) => `The result nests deeper than its limit of ${depth} levels (depth)`,
    hint: "Return a flatter value",
  },
  keys: {
    code: "LIMIT_SIZE",
    message: (_, mostKeys) => `The result has an object with more than ${mostKeys} keys`,
    hint: "Return an array of entries, or a selection",
  },
  lines: {
    code: "LIMIT_SIZE",
    message: () => `The program wrote more than ${MOST_LINES} lines to the console`,
    hint: "Log a summary, or return the data as the result",
  },
  timers: {
    code: "LIMIT_CALLS",
    message: () => `The program has more than ${MOST_TIMERS} timers waiting at once`,
    hint: "Wait for one timer before starting the next",
  },
};

/** `amount` is the processor time in milliseconds for `cpu`, and the most keys for `keys`. */
export function createOverrun(limit: Limit, limits: Limits, amount = 0): GloveboxError {
  const { code, message, hint } = ERRORS[limit];
  return new GloveboxError(code, message(limits, amount), { hint });
}

/** A value over `outputBytes` is kept as a handle; one over this ends the program. */
export function mostValueBytes({ outputBytes, resultBytes }: Limits): number {
  return Math.max(outputBytes, resultBytes);
}
