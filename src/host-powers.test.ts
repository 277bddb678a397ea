/** Random bytes by the page, and masks that gateways do not share. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createHostPowers, drawBytes } from "./host-powers.ts";

test("drawBytes returns as many bytes as requested and never the same twice, across pages and beyond their size", () => {
  for (const count of [1, 12, 16, 17, 5_000]) assert.equal(drawBytes(count).length, count);
  const drawn = Array.from({ length: 2_000 }, () => drawBytes(12).toString("hex"));
  assert.equal(new Set(drawn).size, drawn.length);
  assert.equal(
    drawn.some((text) => /^(00){6}|(00){6}$/.test(text)),
    false,
  );
});

test("drawn bytes do not change when more are drawn", () => {
  const first = drawBytes(16);
  const copy = Buffer.from(first);
  for (let draw = 0; draw < 1_000; draw += 1) drawBytes(16);
  assert.deepEqual(first, copy);
});

test("report masks the secrets of its own gateway only", (context) => {
  const { mock } = context.mock.method(process.stderr, "write", () => true);
  const [first, second] = [createHostPowers(), createHostPowers()];
  first.mask.add("hunter2-hunter2");
  first.report("with hunter2-hunter2");
  second.report("with hunter2-hunter2");
  const [masked, plain] = mock.calls.map(({ arguments: [text] }) => String(text));
  assert.match(masked ?? "", /^incident in_[0-9a-f]{12}: with \[secret\]\n$/);
  assert.match(plain ?? "", /^incident in_[0-9a-f]{12}: with hunter2-hunter2\n$/);
});
