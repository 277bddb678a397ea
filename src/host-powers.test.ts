/** Previews: what the ledger may keep of arguments and results. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createPreview, mask } from "./host-powers.ts";

test("a preview holds no lent secret, in whichever form, also of one that is lent later", () => {
  const text = `{"a":"canary/42","b":"${Buffer.from("canary/42").toString("base64")}","c":"canary%2F42"}`;
  assert.equal(createPreview(text), text);
  mask.add("canary/42");
  assert.equal(createPreview(text), '{"a":"[secret]","b":"[secret]","c":"[secret]"}');
});

test("a preview is cut after its secrets are hidden, and shows nothing that a terminal obeys", () => {
  mask.add("canary/42");
  assert.equal(createPreview("x".repeat(512)), "x".repeat(512));
  assert.equal(createPreview("x".repeat(513)), `${"x".repeat(512)}… [cut: 1 bytes more]`);
  assert.equal(createPreview(`${"x".repeat(510)}canary/42`).includes("ca"), false);
  assert.equal(createPreview("a\u001b[31mb\u202ec"), "abc");
});
