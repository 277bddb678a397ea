import assert from "node:assert/strict";
import { test } from "node:test";

import { drawBytes } from "./draw-bytes.ts";

test("bytes are drawn once, whatever their number, over the end of a page and beyond its measure", () => {
  for (const count of [1, 12, 16, 17, 5_000]) assert.equal(drawBytes(count).length, count);
  const drawn = Array.from({ length: 2_000 }, () => drawBytes(12).toString("hex"));
  assert.equal(new Set(drawn).size, drawn.length);
  assert.equal(
    drawn.some((text) => /^(00){6}|(00){6}$/.test(text)),
    false,
  );
});

test("what was drawn stays what it is", () => {
  const first = drawBytes(16);
  const copy = Buffer.from(first);
  for (let draw = 0; draw < 1_000; draw += 1) drawBytes(16);
  assert.deepEqual(first, copy);
});
