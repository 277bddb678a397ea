/** The whole table of hints. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { effectOf } from "./effect-of.ts";

it("reads the effect from the hints, and takes silence for ignorance", () => {
  assert.equal(effectOf({ readOnly: true }), "read");
  assert.equal(effectOf({ readOnly: true, destructive: true }), "read");
  assert.equal(effectOf({ destructive: true }), "destroy");
  assert.equal(effectOf({ readOnly: false, destructive: true }), "destroy");
  assert.equal(effectOf({ readOnly: false }), "write");
  assert.equal(effectOf({ destructive: false }), "write");
  assert.equal(effectOf({ readOnly: false, destructive: false }), "write");
  assert.equal(effectOf({ idempotent: true, openWorld: false }), "unknown");
  assert.equal(effectOf({}), "unknown");
});
