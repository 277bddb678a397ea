/** Tool definitions as servers send them, well-formed and not. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Json } from "../../domain/index.ts";

import { parseToolPage } from "./parse-tools.ts";

const input = { type: "object" };

function nest(levels: number): Json {
  let schema: Json = {};
  for (let level = 1; level < levels; level += 1) schema = { a: schema };
  return schema;
}

test("a full definition keeps everything that is used", () => {
  const raw = {
    name: "list",
    title: "List",
    description: "Lists",
    inputSchema: input,
    outputSchema: { type: "array" },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false, title: "x" },
    _meta: { ignored: true },
  };
  assert.deepEqual(parseToolPage({ tools: [raw], nextCursor: "2" }), {
    tools: [
      {
        name: "list",
        title: "List",
        description: "Lists",
        input,
        output: { type: "array" },
        annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
    ],
    nextCursor: "2",
  });
});

test("a bare definition has no claims, and an annotation that is no boolean is no claim", () => {
  const raw = { name: "x", inputSchema: input, annotations: { readOnlyHint: "true", destructiveHint: 1 } };
  const tool = { name: "x", description: "", input, output: null, annotations: {} };
  assert.deepEqual(parseToolPage({ tools: [raw], nextCursor: "" }), { tools: [tool], nextCursor: undefined });
});

test("wrong pages and wrong definitions are refused", () => {
  const wrong = [
    null,
    {},
    { tools: {} },
    { tools: [null] },
    { tools: [{ inputSchema: input }] },
    { tools: [{ name: "", inputSchema: input }] },
    { tools: [{ name: "n".repeat(257), inputSchema: input }] },
    { tools: [{ name: "x" }] },
    { tools: [{ name: "x", inputSchema: [] }] },
    { tools: [{ name: "x", inputSchema: input, outputSchema: true }] },
    { tools: [{ name: "x", inputSchema: nest(129) }] },
  ];
  for (const raw of wrong) assert.throws(() => parseToolPage(raw), { code: "UPSTREAM_RESULT_INVALID" });
});

test("names of 256 characters and schemas of 128 levels are still accepted", () => {
  const raw = { name: "n".repeat(256), inputSchema: nest(128), outputSchema: null };
  assert.equal(parseToolPage({ tools: [raw] }).tools.length, 1);
});
