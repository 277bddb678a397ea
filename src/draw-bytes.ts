/** Random bytes by the page: to ask the platform for a few costs as much as to ask for many. */

import { randomBytes, randomFillSync } from "node:crypto";

const PAGE_BYTES = 4_096;
/** Longer ones are keys, and come from the platform themselves. */
const MOST_BYTES = 16;

const page = Buffer.allocUnsafeSlow(PAGE_BYTES);
let used = PAGE_BYTES;

/** Each is given out once, and nothing of it stays behind. */
export function drawBytes(count: number): Buffer {
  if (count > MOST_BYTES) return randomBytes(count);
  if (used + count > PAGE_BYTES) {
    randomFillSync(page);
    used = 0;
  }
  const drawn = Buffer.from(page.subarray(used, used + count));
  page.fill(0, used, used + count);
  used += count;
  return drawn;
}
