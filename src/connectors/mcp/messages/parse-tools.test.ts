/** Tool definitions as servers send them, well-formed and malformed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Json } from "../../../domain/index.ts";

import { listTools } from "./parse-tools.ts";

const input = { type: "object" };

function nest(levels: number): Json {
  let schema: Json = {};
  for (let level = 1; level < levels; level += 1) schema = { a: schema };
  return schema;
}

/** The tools of a server that sends this as its only page. */
const parse = (page: unknown): Promise<unknown> => listTools(async () => page);

test("a full definition keeps every field that is used", async () => {
  const raw = {
    name: "list",
    title: "List",
    description: "Lists",
    inputSchema: input,
    outputSchema: { type: "array" },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false, title: "x" },
    _meta: { ignored: true },
  };
  assert.deepEqual(await parse({ tools: [raw] }), [
    {
      name: "list",
      title: "List",
      description: "Lists",
      input,
      output: { type: "array" },
      annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    },
  ]);
});

test("a bare definition has no claims, and an annotation that is not a boolean is ignored", async () => {
  const raw = { name: "x", inputSchema: input, annotations: { readOnlyHint: "true", destructiveHint: 1 } };
  const tool = { name: "x", description: "", input, output: null, annotations: {} };
  assert.deepEqual(await parse({ tools: [raw], nextCursor: "" }), [tool]);
});

test("malformed pages and definitions are refused", async () => {
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
  for (const raw of wrong) await assert.rejects(parse(raw), { code: "UPSTREAM_RESULT_INVALID" });
});

test("names of 256 characters and schemas of 128 levels are accepted", async () => {
  const raw = { name: "n".repeat(256), inputSchema: nest(128), outputSchema: null };
  assert.equal((await listTools(async () => ({ tools: [raw] }))).length, 1);
});
