/** What a program has received and called, so that a new child can repeat it. Above a size nothing is kept. */

import { GloveboxError } from "../../domain/index.ts";

import type { Delivery } from "../tape.ts";

/** A longer history would fill the gateway's memory: a program that has one keeps its child. */
export const MOST_HISTORY_BYTES = 256 * 1024;
/** What an entry takes besides its text. */
const ENTRY_BYTES = 64;

export class ProgramHistory {
  #deliveries: Delivery[] = [];
  #calls: string[] = [];
  #bytes = 0;
  /** How many calls the program has made. */
  calls = 0;

  get isWhole(): boolean {
    return this.#bytes <= MOST_HISTORY_BYTES;
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  addDelivery(delivery: Delivery): void {
    if (this.#hasRoomFor(delivery.text)) this.#deliveries.push(delivery);
  }

  addCall(text: string): void {
    this.calls += 1;
    if (this.#hasRoomFor(text)) this.#calls.push(text);
  }

  /** Throws REPLAY_DIVERGED if a repeated call is not the same as before: its answer would be that of another call. */
  checkCall(id: number, text: string): void {
    if (this.#calls[id - 1] === text) return;
    throw new GloveboxError("REPLAY_DIVERGED", `Call ${id} is another one than before the program waited`, {
      hint: "Run the program again from the start; changes made by its calls remain",
    });
  }

  #hasRoomFor(text: string): boolean {
    this.#bytes += text.length + ENTRY_BYTES;
    if (!this.isWhole) {
      this.#deliveries = [];
      this.#calls = [];
    }
    return this.isWhole;
  }
}
