/** What one program says: its console lines and its value, counted here again because the guest's own count cannot be trusted. */

import { depthOf } from "../../domain/index.ts";
import type { Json, Limits, LogLine } from "../../domain/index.ts";

import { depthOverrun, lineOverrun, mostValueBytes, outputOverrun, resultOverrun } from "./overruns.ts";
import { parseValue } from "./parse-reports.ts";

const MOST_LINES = 10_000;

export class ProgramOutput {
  readonly #limits: Limits;
  readonly #logs: LogLine[] = [];
  #bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get logs(): readonly LogLine[] {
    return this.#logs;
  }

  /** Of lines and value together, also of what was refused. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws LIMIT_SIZE instead of keeping a line that is too much. */
  addLine(line: LogLine): void {
    this.#bytes += Buffer.byteLength(line.text);
    if (this.#bytes > this.#limits.outputBytes) throw outputOverrun(this.#limits);
    // An empty line has no bytes to charge for, but costs the host as much as any other.
    if (this.#logs.length >= MOST_LINES) throw lineOverrun(MOST_LINES);
    this.#logs.push(line);
  }

  /** The value has a limit of its own; whoever settles sees by `bytes` if it is large. */
  takeValue(text: string): Json | undefined {
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    if (bytes > mostValueBytes(this.#limits)) throw resultOverrun(this.#limits);
    if (text === "") return undefined;
    const value = parseValue(text);
    if (depthOf(value, this.#limits.depth) > this.#limits.depth) throw depthOverrun(this.#limits);
    return value;
  }
}
