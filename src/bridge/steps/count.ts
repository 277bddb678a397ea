/** Steps that count calls: those under way, all of them, and those that may run at once. */

import type { BridgeState, Crossing } from "../crossing.ts";
import { nameOf } from "./find-tool.ts";

export function track({ bridge }: Crossing): void {
  bridge.openCalls += 1;
  // A skill with open calls waits for nothing else: they count in its place.
  countOpen(bridge, bridge.under !== undefined && bridge.openCalls === 1 ? 0 : 1);
}

export function untrack({ bridge }: Crossing): void {
  bridge.openCalls -= 1;
  countOpen(bridge, bridge.under !== undefined && bridge.openCalls === 0 ? 0 : -1);
  if (bridge.openCalls === 0) for (const resolve of bridge.idle.splice(0)) resolve();
}

/** Of the program and its skills together. */
export function countOpen({ counted, options }: BridgeState, by: number): void {
  counted.open += by;
  options.onCalls?.(counted.open);
}

/** Refused attempts count too: otherwise a program could probe names for free. */
export function count(crossing: Crossing): void {
  const { bridge, seq, rawAddress } = crossing;
  const { counted, under } = bridge;
  const name = nameOf(rawAddress);
  counted.calls += 1;
  const over = counted.calls - bridge.options.limits.calls;
  if (over > 0) throw bridge.recorder.overrun(seq, name, over === 1);
  crossing.entry = bridge.trace.open(seq, name, under);
}

export function admit(crossing: Crossing): Promise<void> | undefined {
  const free = crossing.bridge.slots.enter();
  if (free) return free.then(() => void (crossing.hasSlot = true));
  crossing.hasSlot = true;
  return undefined;
}

export function release({ bridge, hasSlot, arrival }: Crossing): void {
  arrival?.settle();
  if (hasSlot) bridge.slots.leave();
}
