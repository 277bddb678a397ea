/** `console` inside the isolate: each line becomes a frame for the host, counted against the output limit. */

import { LOG_LEVELS, TO_HOST } from "../src/sandbox/wire.ts";
import { EncodeProblem, encode } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";
import { PROTOTYPES, freeze, isPrototypeOf, symbolToText, toText } from "./intrinsics.ts";
import type { Send } from "./tools.ts";

/** Without the methods that measure time or count: the clock stands still. */
export function createConsole(send: Send, limits: () => EncodeLimits): object {
  const write = (level: number, args: readonly unknown[]): void => {
    try {
      const line = formatLine(args, limits());
      // A line that cannot fit is refused here, before it is copied out of the isolate.
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

/** Strings as they are, other values as compact JSON-like text. Throws only `EncodeProblem` of a value above the limit. */
export function formatLine(args: readonly unknown[], limits: EncodeLimits): string {
  let line = "";
  for (let index = 0; index < args.length; index += 1) {
    line += (index === 0 ? "" : " ") + formatValue(args[index], limits);
  }
  return line;
}

function formatValue(value: unknown, limits: EncodeLimits): string {
  switch (typeof value) {
    case "string":
      return value;
    case "undefined":
      return "undefined";
    case "bigint":
      return toText(value) + "n";
    case "symbol":
      return symbolToText(value);
    case "function":
      return "[Function]";
    default:
      return formatObject(value, limits);
  }
}

function formatObject(value: unknown, limits: EncodeLimits): string {
  if (isPrototypeOf(PROTOTYPES.promise, value)) return "[Promise: await it]";
  try {
    if (!isPrototypeOf(PROTOTYPES.error, value)) return encode(value, limits) ?? "undefined";
    const { name, message } = value as Error;
    return toText(name) + ": " + toText(message);
  } catch (problem) {
    if (!(problem instanceof EncodeProblem)) return "[unprintable]";
    if (problem.reason === "size") throw problem;
    return "[" + problem.reason + "]";
  }
}
