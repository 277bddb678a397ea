/** The tool definitions that a client loads first: small and byte-stable. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { TOOL_DEFINITIONS, writeInstructions } from "./definitions.ts";

const listed = JSON.stringify({ tools: TOOL_DEFINITIONS });

test("all tool definitions together stay under 1,000 tokens", () => {
  assert.ok(listed.length / 4 < 1_000, `${listed.length / 4} tokens`);
});

test("the tool definitions are byte for byte the pinned ones", () => {
  assert.equal(
    createHash("sha256").update(listed).digest("hex"),
    "f50a697c8a1e056bf719ff2c54e001e593fb2d165a11dff2181e6c9c7bf9df3e",
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

const WORK =
  "search finds tools with their signatures, execute runs one program that calls them; describe shows types that a signature omits.";

test("the instructions name the servers before the order of work, in at most 120 tokens", () => {
  assert.equal(writeInstructions(["files", "memory"]), `Servers: files, memory. ${WORK}`);
  assert.equal(writeInstructions([]), WORK);
  const many = Array.from({ length: 200 }, (_, at) => `server${at}`);
  const text = writeInstructions(many);
  assert.match(text, /^Servers: server0, server1, .* and 1\d\d more\. search finds/);
  for (let count = 1; count <= 200; count += 1) {
    const written = writeInstructions(many.slice(0, count));
    assert.ok(written.length / 4 <= 120);
    const [, more = "0"] = / and (\d+) more/.exec(written) ?? [];
    assert.equal((written.match(/server\d/g)?.length ?? 0) + Number(more), count);
  }
});

test("the instructions are the same for the same servers, and bounded for a long name", () => {
  assert.equal(writeInstructions(["a", "b"]), writeInstructions(["a", "b"]));
  assert.ok(writeInstructions(["x".repeat(5_000), "b"]).length <= 480);
});
