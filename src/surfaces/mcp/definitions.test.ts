/** The tool definitions that a client loads first: small and byte-stable. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { TOOL_DEFINITIONS } from "./definitions.ts";

const listed = JSON.stringify({ tools: TOOL_DEFINITIONS });

test("all tool definitions together stay under 1,000 tokens", () => {
  assert.ok(listed.length / 4 < 1_000, `${listed.length / 4} tokens`);
});

test("the tool definitions are byte for byte the pinned ones", () => {
  assert.equal(
    createHash("sha256").update(listed).digest("hex"),
    "1035a4d65fe2d7d9c715d2021266efdf0cee31745283d7aff909f399f499c6d0",
  );
});

test("the tools are offered in the order of use", () => {
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
