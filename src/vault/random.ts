/** Random bytes of the platform, fetched by the page: a page costs as much as a few bytes. */

import { randomBytes, randomFillSync } from "node:crypto";

const PAGE_BYTES = 4_096;
/** Longer requests are for keys and are answered by the platform itself. */
const MAX_DRAWN_BYTES = 16;

/** No byte is returned twice or kept. */
export function createRandom(): (count: number) => Buffer {
  const page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  let used = PAGE_BYTES;
  return (count) => {
    if (count > MAX_DRAWN_BYTES) return randomBytes(count);
    if (used + count > PAGE_BYTES) {
      randomFillSync(page);
      used = 0;
    }
    const drawn = Buffer.from(page.subarray(used, used + count));
    page.fill(0, used, used + count);
    used += count;
    return drawn;
  };
}
