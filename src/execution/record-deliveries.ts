/** Keeps what a program receives, so that it can be run again while it runs or just after. */

import { defined } from "../domain/index.ts";
import type { EngineName } from "../domain/index.ts";
import type { Delivery, Tape, TapeStart } from "../sandbox/index.ts";

/** A program that has received more is not run again. */
export const MOST_BYTES = 4 * 1024 * 1024;

export interface DeliveryRecord {
  readonly tape: Tape;
  /** `undefined` before the start, and for a program that has received too much. */
  readonly taken: () =>
    | { readonly start: TapeStart; readonly past: readonly Delivery[]; readonly engine?: EngineName }
    | undefined;
}

export function recordDeliveries(tape: Tape): DeliveryRecord {
  let past: Delivery[] | undefined = [...tape.past];
  let bytes = past.reduce((sum, { text }) => sum + text.length, 0);
  let start: TapeStart | undefined;
  let { engine } = tape;
  return {
    tape: {
      ...tape,
      began(from, first) {
        start = from;
        engine = first;
        tape.began(from, first);
      },
      switched(next) {
        engine = next;
        tape.switched?.(next);
      },
      keep(delivery) {
        bytes += delivery.text.length;
        if (bytes > MOST_BYTES) past = undefined;
        past?.push(delivery);
        return tape.keep(delivery);
      },
    },
    taken: () => (start && past ? { start, past: [...past], ...defined({ engine }) } : undefined),
  };
}
