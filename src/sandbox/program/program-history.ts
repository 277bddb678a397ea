/**
 * What a program has received and done, so that another child can repeat it. Above a size nothing is kept; while a program
 * may change its engine, the size is larger, and every frame that it sent is kept.
 */

import { GloveboxError } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";

import type { Delivery } from "../tape.ts";
import { TO_HOST } from "../wire.ts";

/** A longer history would fill the gateway's memory: a program that has one keeps its child. */
export const MOST_HISTORY_BYTES = 256 * 1024;
/** A program that is about to receive more changes its engine before. */
export const MOST_TRACED_BYTES = 1024 * 1024;
/** Nothing is kept above this; calls and timers alone come near it only by the thousands. */
const MOST_KEPT_BYTES = 4 * MOST_TRACED_BYTES;
/** What an entry takes besides its text. */
const ENTRY_BYTES = 64;
/** Of longer calls a digest is kept. */
const KEPT_CHARS = 1_024;

/** A frame of the program: a call, a timer or a console line. */
export interface Output {
  readonly kind: number;
  readonly id: number;
  /** Or its digest. */
  readonly text: string;
}

export class ProgramHistory {
  #deliveries: Delivery[] = [];
  #calls: string[] = [];
  #outputs: Output[] | undefined;
  #bytes = 0;
  /** How many calls the program has made. */
  calls = 0;

  constructor(isTraced = false) {
    if (isTraced) this.#outputs = [];
  }

  get isWhole(): boolean {
    return this.#bytes <= MOST_HISTORY_BYTES;
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** In the order of sending; `undefined` if they are not kept. */
  get outputs(): readonly Output[] | undefined {
    return this.#outputs;
  }

  /** Whether the program could still change its engine after this delivery. */
  hasRoomFor({ text }: Delivery): boolean {
    return this.#bytes + text.length + ENTRY_BYTES <= MOST_TRACED_BYTES;
  }

  addDelivery(delivery: Delivery): void {
    if (this.#count(delivery.text)) this.#deliveries.push(delivery);
  }

  addCall(text: string): void {
    this.calls += 1;
    const kept = shorten(text);
    if (!this.#count(kept)) return;
    this.#calls.push(kept);
    this.#outputs?.push({ kind: TO_HOST.CALL, id: this.calls, text: kept });
  }

  addTimer(id: number, text: string): void {
    if (this.#outputs && this.#count(text)) this.#outputs.push({ kind: TO_HOST.TIMER, id, text });
  }

  /** Lines are not counted: the program's output holds them, within limits of its own. */
  addLine(id: number, text: string): void {
    this.#outputs?.push({ kind: TO_HOST.LOG, id, text });
  }

  /** Whether the frame is the output at this index. */
  isOutput(index: number, { kind, id, text }: Output): boolean {
    const output = this.#outputs?.[index];
    return output?.kind === kind && output.id === id && output.text === (kind === TO_HOST.CALL ? shorten(text) : text);
  }

  /** The program keeps its engine from now on. */
  endTrace(): void {
    this.#outputs = undefined;
    this.#count("", 0);
  }

  /** Throws REPLAY_DIVERGED if a repeated call is not the same as before: its answer would be that of another call. */
  checkCall(id: number, text: string): void {
    if (this.#calls[id - 1] === shorten(text)) return;
    throw new GloveboxError("REPLAY_DIVERGED", `Call ${id} is another one than before the program waited`, {
      hint: "Run the program again from the start; changes made by its calls remain",
    });
  }

  /** False if nothing is kept any more. */
  #count(text: string, entryBytes = ENTRY_BYTES): boolean {
    this.#bytes += text.length + entryBytes;
    if (this.#bytes <= (this.#outputs ? MOST_KEPT_BYTES : MOST_HISTORY_BYTES)) return true;
    this.#deliveries = [];
    this.#calls = [];
    this.#outputs = undefined;
    return false;
  }
}

function shorten(text: string): string {
  return text.length > KEPT_CHARS ? digestOf(text) : text;
}
