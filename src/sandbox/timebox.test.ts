/** Work of the host that takes too long is interrupted, and the next work is not. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { timebox } from "./timebox.ts";

test("timebox returns what the work returns and throws what it throws", () => {
  assert.equal(
    timebox(() => 7),
    7,
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
  assert.throws(
    () =>
      timebox(() => {
        for (;;);
      }),
    { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" },
  );
  assert.equal(
    timebox(() => "again"),
    "again",
  );
});
