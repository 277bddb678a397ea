/** The errors of the limits that the sandbox enforces. Each names the limit, its value and the way out. */

import { GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";

import type { Overrun } from "../wire.ts";

export function wallOverrun(limits: Limits): GloveboxError {
  return new GloveboxError("LIMIT_TIME", `The program ran longer than its limit of ${limits.wallMs} ms (wallMs)`, {
    hint: "Look for a loop without end, call tools in parallel with Promise.all, or split the work into several programs",
  });
}

export function cpuOverrun(limits: Limits, usedMs: number): GloveboxError {
  const message = `The program used ${usedMs} ms of processor time; its limit is ${limits.cpuMs} ms (cpuMs)`;
  return new GloveboxError("LIMIT_TIME", message, {
    hint: "Look for a loop without end, or let a tool filter the data before the program sees it",
  });
}

export function memoryOverrun(limits: Limits): GloveboxError {
  const megabytes = Math.round(limits.memoryBytes / (1024 * 1024));
  return new GloveboxError(
    "LIMIT_MEMORY",
    `The program needed more memory than its limit of ${megabytes} MB (memoryBytes)`,
    {
      hint: "Keep only the fields you need and work on the data in pieces",
    },
  );
}

export function outputOverrun(limits: Limits): GloveboxError {
  const message = `The logs are larger than the limit of ${limits.outputBytes} bytes (outputBytes)`;
  return new GloveboxError("LIMIT_SIZE", message, {
    hint: "Log a summary, or return the data as the result",
  });
}

/** A value over `outputBytes` is kept as a handle, so what ends here is larger than any result may be. */
export function mostValueBytes({ outputBytes, resultBytes }: Limits): number {
  return Math.max(outputBytes, resultBytes);
}

export function resultOverrun(limits: Limits): GloveboxError {
  const message = `The result is larger than its limit of ${mostValueBytes(limits)} bytes (resultBytes)`;
  return new GloveboxError("LIMIT_SIZE", message, {
    hint: "Return a summary, a count or a selection instead of everything",
  });
}

export function depthOverrun(limits: Limits): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `The result nests deeper than its limit of ${limits.depth} levels (depth)`, {
    hint: "Return a flatter value",
  });
}

export function lineOverrun(most: number): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `The program wrote more than ${most} lines to the console`, {
    hint: "Log a summary, or return the data as the result",
  });
}

export function timerOverrun(most: number): GloveboxError {
  return new GloveboxError("LIMIT_CALLS", `The program has more than ${most} timers waiting at once`, {
    hint: "Wait for one timer before starting the next",
  });
}

/** What a child or guest reported about itself, as an error. */
export function toOverrun(reported: Overrun, limits: Limits): GloveboxError {
  switch (reported) {
    case "wall":
      return wallOverrun(limits);
    case "memory":
      return memoryOverrun(limits);
    case "output":
      return outputOverrun(limits);
    case "result":
      return resultOverrun(limits);
    case "depth":
      return depthOverrun(limits);
    default:
      return reported satisfies never;
  }
}
