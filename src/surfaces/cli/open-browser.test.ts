/** Which URLs reach the program that opens a browser. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openBrowser } from "./open-browser.ts";

for (const url of ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x"]) {
  test(`openBrowser refuses ${url}`, () => {
    assert.throws(() => openBrowser(new URL(url)), /Only http and https URLs can be opened/);
  });
}

test("openBrowser does not throw on a machine without a program that opens URLs", async (context) => {
  const { PATH } = process.env;
  process.env["PATH"] = "";
  context.after(() => (process.env["PATH"] = PATH));
  assert.doesNotThrow(() => openBrowser(new URL("https://example.com"), "linux"));
  await new Promise((turn) => setTimeout(turn, 50));
});
