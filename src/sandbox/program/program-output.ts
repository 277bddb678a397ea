import type { Limits, LogLine } from "../../domain/index.ts";

import { LOG_LEVELS } from "../wire.ts";
import { MOST_LINES, createOverrun, mostValueBytes } from "./overruns.ts";

/** The console lines and the value of one program, counted again because the guest's count cannot be trusted. */
export class ProgramOutput {
  readonly #limits: Limits;
  readonly logs: LogLine[] = [];
  /** Of lines and value together, including refused ones. */
  bytes = 0;
  #repeated = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** A new child repeats all lines so far. */
  startOver(): void {
    this.#repeated = this.logs.length;
  }

  /** The new line; `undefined` for one that is repeated. Throws LIMIT_SIZE instead of keeping a line above the limit. */
  takeLine(level: number, text: string, elapsedMs: number): LogLine | undefined {
    if (this.#repeated > 0) {
      this.#repeated -= 1;
      return undefined;
    }
    this.bytes += Buffer.byteLength(text);
    if (this.bytes > this.#limits.outputBytes) throw createOverrun("output", this.#limits);
    // Empty lines have no bytes but cost the host as much as others.
    if (this.logs.length >= MOST_LINES) throw createOverrun("lines", this.#limits);
    const line: LogLine = { level: LOG_LEVELS[level] ?? "log", text, atMs: Math.floor(elapsedMs) };
    this.logs.push(line);
    return line;
  }

  /** Counts the value, which has a separate limit; `bytes` shows the caller if it is large. Throws LIMIT_SIZE. */
  countValue(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.bytes += bytes;
    if (bytes > mostValueBytes(this.#limits)) throw createOverrun("result", this.#limits);
  }
}
