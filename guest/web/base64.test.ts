/** `atob` and `btoa` against Node's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { atob, btoa } from "./index.ts";

const invalid = { name: "InvalidCharacterError" };

/** What a function answers, or the name of what it throws. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

test("btoa encodes every string of bytes as Node does", () => {
  const byteText = fc.uint8Array({ maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes));
  fc.assert(fc.property(byteText, (text) => assert.equal(btoa(text), globalThis.btoa(text))));
});

test("atob decodes the output of btoa", () => {
  const byteText = fc.uint8Array({ maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes));
  fc.assert(fc.property(byteText, (text) => assert.equal(atob(btoa(text)), text)));
});

test("atob accepts and refuses the same strings as Node", () => {
  const units = Array.from("ABab09+/== \n\t-_\u0000é");
  const text = fc.string({ unit: fc.constantFrom(...units), maxLength: 12 });
  fc.assert(
    fc.property(text, (value) =>
      assert.equal(
        outcome(() => atob(value)),
        outcome(() => globalThis.atob(value)),
      ),
    ),
    { numRuns: 2000 },
  );
});

test("btoa refuses a character above U+00FF and takes U+00FF itself", () => {
  assert.throws(() => btoa("a\u0100"), invalid);
  assert.equal(btoa("a\u00ff"), "Yf8=");
});

test("atob takes full padding or none, never half of it", () => {
  assert.equal(atob("YQ=="), "a");
  assert.equal(atob("YQ"), "a");
  assert.throws(() => atob("YQ="), invalid);
  assert.throws(() => atob("YQ==="), invalid);
  assert.throws(() => atob("YQ==YQ=="), invalid);
});

test("atob ignores ASCII whitespace and no other", () => {
  assert.equal(atob(" Y\tW\nJ\fj\r"), "abc");
  assert.throws(() => atob("YW\u00a0Jj"), invalid);
  assert.throws(() => atob("YW\u000bJj"), invalid);
});

test("atob and btoa convert their argument to a string", () => {
  assert.equal(btoa(12), globalThis.btoa("12"));
  assert.equal(atob(null), globalThis.atob("null"));
  assert.throws(() => btoa(Symbol("s")), TypeError);
});

test("atob and btoa convert a megabyte", () => {
  const text = "\u0000\u007f\u0080\u00ff".repeat(262_144);
  assert.equal(atob(btoa(text)), text);
});
