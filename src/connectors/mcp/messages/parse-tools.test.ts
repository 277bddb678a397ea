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

test("malformed pages are refused", async () => {
  for (const raw of [null, {}, { tools: {} }]) await assert.rejects(parse(raw), { code: "UPSTREAM_RESULT_INVALID" });
});

test("a malformed definition is marked as unusable with its reason, and the other tools are kept", async () => {
  const wrong: readonly (readonly [Json, string])[] = [
    [null, "it is not an object"],
    [{ inputSchema: input }, "its name is not a string with characters"],
    [{ name: "", inputSchema: input }, "its name is not a string with characters"],
    [{ name: "n".repeat(257), inputSchema: input }, "its name has more than 256 characters"],
    [{ name: "x" }, "a schema is not an object"],
    [{ name: "x", inputSchema: [] }, "a schema is not an object"],
    [{ name: "x", inputSchema: input, outputSchema: true }, "a schema is not an object"],
    [{ name: "x", inputSchema: nest(129) }, "a schema nests deeper than 128 levels"],
    [{ name: "x", inputSchema: input, outputSchema: nest(200) }, "a schema nests deeper than 128 levels"],
  ];
  for (const [raw, why] of wrong) {
    const tools = await listTools(async () => ({ tools: [raw, { name: "good", inputSchema: input }] }));
    assert.deepEqual(
      tools.map(({ unusable }) => unusable),
      [why, undefined],
    );
    assert.ok(tools.every(({ name }) => name.length <= 256));
  }
});

test("all tools with one name are unusable, and others are not", async () => {
  const tools = ["x", "y", "x"].map((name) => ({ name, inputSchema: input }));
  const listed = await listTools(async () => ({ tools }));
  const why = "another tool has the same name";
  assert.deepEqual(
    listed.map(({ unusable }) => unusable),
    [why, undefined, why],
  );
});

test("names of 256 characters and schemas of 128 levels are accepted", async () => {
  const raw = { name: "n".repeat(256), inputSchema: nest(128), outputSchema: null };
  const [tool] = await listTools(async () => ({ tools: [raw] }));
  assert.deepEqual([tool?.name, tool?.unusable], [raw.name, undefined]);
});
