/** Previews: what the ledger may keep of arguments and results. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createMask } from "../vault/index.ts";
import { createPreview } from "./record.ts";

test("a preview holds no lent secret in any form, also one that is lent later", () => {
  const mask = createMask();
  const preview = createPreview(mask.hide);
  const text = `{"a":"canary/42","b":"${Buffer.from("canary/42").toString("base64")}","c":"canary%2F42"}`;
  assert.equal(preview(text), text);
  mask.add("canary/42");
  assert.equal(preview(text), '{"a":"[secret]","b":"[secret]","c":"[secret]"}');
});

test("a preview is cut after its secrets are hidden, and contains no terminal control sequences", () => {
  const mask = createMask();
  const preview = createPreview(mask.hide);
  mask.add("canary/42");
  assert.equal(preview("x".repeat(512)), "x".repeat(512));
  assert.equal(preview("x".repeat(513)), `${"x".repeat(512)}… [cut: 1 bytes more]`);
  assert.equal(preview(`${"x".repeat(510)}canary/42`).includes("ca"), false);
  assert.equal(preview("a\u001b[31mb\u202ec"), "abc");
});
