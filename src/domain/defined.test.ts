/** Fields that are undefined are dropped; every other value stays. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { defined } from "./index.ts";

test("defined drops fields that are undefined and keeps null, false, zero and the empty string", () => {
  const missing: string | undefined = undefined;
  assert.deepEqual(defined({ a: missing, b: null, c: false, d: 0, e: "" }), { b: null, c: false, d: 0, e: "" });
});
