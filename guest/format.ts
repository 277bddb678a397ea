/** How `console` writes its arguments: strings as they are, everything else as compact JSON-like text. */

import { EncodeProblem, encode } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";
import { PROTOTYPES, isPrototypeOf, symbolToText, toText } from "./intrinsics.ts";

/** One console line. Never throws for a strange value; a text over the limit is a matter for the caller. */
export function formatLine(args: readonly unknown[], limits: EncodeLimits): string {
  let line = "";
  for (let index = 0; index < args.length; index += 1) {
    line += index === 0 ? formatValue(args[index], limits) : " " + formatValue(args[index], limits);
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
    if (isPrototypeOf(PROTOTYPES.error, value)) return describeError(value as Error);
    return encode(value, limits) ?? "undefined";
  } catch (problem) {
    if (problem instanceof EncodeProblem && problem.reason === "size") throw problem;
    return problem instanceof EncodeProblem ? "[" + problem.reason + "]" : "[unprintable]";
  }
}

function describeError(error: Error): string {
  return toText(error.name) + ": " + toText(error.message);
}
