/** Errors of a Dynamic Worker in the words of the protocol, with the author's own positions. */

import type { ThrownMessage } from "../../wire.ts";
import { mapFirstLine } from "../map-columns.ts";
import { HEAD } from "./dynamic-worker.ts";
import { ImportRefused } from "./withhold-imports.ts";

/** As much of an error as the host keeps. */
const TEXT_CHARS = 8_192;
/** How the engine words it when the program's module does not compile. */
const NOT_COMPILED = /Uncaught SyntaxError: ([^\n]*)(?:\n\s*at (program\.ts:\d+:\d+))?/;

/** Describes why a Worker did not start. Anything but a syntax error of the program is rethrown as an engine fault. */
export function describeLoadFailure(thrown: unknown): ThrownMessage {
  if (thrown instanceof ImportRefused) {
    return { kind: "syntax", name: "SyntaxError", message: thrown.message, stack: `SyntaxError: ${thrown.message}` };
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const [, message, position] = NOT_COMPILED.exec(text) ?? [];
  if (message === undefined) throw thrown;
  const frame = position === undefined ? "" : `\n    at ${position}`;
  return { kind: "syntax", name: "SyntaxError", message, stack: `SyntaxError: ${message}${frame}` };
}

/** The same error with positions of the author. */
export function withAuthorStack(thrown: ThrownMessage): ThrownMessage {
  return { ...thrown, stack: mapFirstLine(thrown.stack, HEAD).slice(0, TEXT_CHARS) };
}
