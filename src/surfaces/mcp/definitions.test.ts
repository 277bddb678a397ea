/** What a client loads before it does anything: small, and the same to the byte. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { TOOL_DEFINITIONS } from "./definitions.ts";

const listed = JSON.stringify({ tools: TOOL_DEFINITIONS });

test("all definitions together stay under 1,000 tokens", () => {
  assert.ok(listed.length / 4 < 1_000, `${listed.length / 4} tokens`);
});

test("the definitions are the same to the byte until somebody decides otherwise", () => {
  assert.equal(
    createHash("sha256").update(listed).digest("hex"),
    "345ff1feb6d886edd5493b1b4091353b9e1a34ac53e15774de9b4f079667b9c9",
  );
});

test("only what can do something is offered, in the order of use", () => {
  assert.deepEqual(
    TOOL_DEFINITIONS.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
    [
      ["search", true],
      ["describe", true],
      ["execute", false],
      ["resume", true],
    ],
  );
});
