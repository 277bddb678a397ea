/** Counts requests in windows of time, of each address and of all together. */

import type { Instant } from "../../domain/index.ts";
import { createRecent } from "../../timing/index.ts";
import { networkOf } from "../network-of.ts";

export interface WindowLimits {
  readonly windowMs: number;
  /** Of one address. */
  readonly each: number;
  /** Of all addresses. */
  readonly all: number;
}

const MAX_ORIGINS = 1_000;
const ALL = "";

/** Returns false for a request above a limit; it counts for the address, and not for all. */
export function createWindows({ windowMs, each, all }: WindowLimits, now: () => Instant): (origin: string) => boolean {
  const windows = createRecent<string, { startedAt: Instant; count: number }>(MAX_ORIGINS);
  const total = { startedAt: 0, count: 0 };
  const enter = (window: { startedAt: Instant; count: number }, at: Instant): void => {
    if (at - window.startedAt >= windowMs) Object.assign(window, { startedAt: at, count: 0 });
    window.count += 1;
  };
  return (origin) => {
    const at = now();
    const own = windows.getOr(networkOf(origin) || ALL, () => ({ startedAt: at, count: 0 }));
    enter(own, at);
    if (own.count > each) return false;
    enter(total, at);
    return total.count <= all;
  };
}
