/** Work of the host that takes too long is interrupted, and the next work is not. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { timebox } from "./timebox.ts";

test("timebox returns what the work returns and throws what it throws", () => {
  assert.deepEqual(
    timebox(() => 7),
    { value: 7 },
  );
  assert.throws(
    () =>
      timebox(() => {
        throw new RangeError("own");
      }),
    RangeError,
  );
});

test("timebox interrupts work that never ends, and serves the next work", () => {
  assert.equal(
    timebox(() => {
      for (;;);
    }),
    undefined,
  );
  assert.deepEqual(
    timebox(() => "again"),
    { value: "again" },
  );
});

test("timebox starts work once more that was interrupted without computing", () => {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let starts = 0;
  const value = timebox(() => {
    starts += 1;
    if (starts === 1) for (;;) Atomics.wait(pause, 0, 0, 50);
    return starts;
  });
  assert.deepEqual(value, { value: 2 });
});
