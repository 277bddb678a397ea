/** Documents as they exist in practice: careless, hostile, huge. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseListing } from "../../../catalog/parse-listing.ts";
import { depthOf } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";
import { runAtOnce } from "../../../timing/index.ts";
import { createTool, toSchemaBudget } from "./create-tool.ts";
import { createLargeDocument } from "../fixtures/large-document.ts";
import { MAX_OPERATIONS, parseApiDocument } from "./parse-document.ts";
import { createReferences } from "./references.ts";

function listTools(root: JsonObject, budget?: number): ReturnType<typeof createTool>[] {
  const { operations, schemes } = parseApiDocument(root);
  const maxBytes = budget ?? toSchemaBudget(operations.length);
  const context = { references: createReferences(root), maxBytes, schemes, base: new URL("http://127.0.0.1:1") };
  return operations.map((one) => createTool(one, context));
}

const withPaths = (paths: Json, more: JsonObject = {}): JsonObject => ({ openapi: "3.1.0", paths, ...more });

test("anything but an OpenAPI document is refused, and every known version is accepted", () => {
  for (const root of [{}, { openapi: "4.0.0", paths: {} }, { swagger: "1.2", paths: {} }, { openapi: "3.0.0" }]) {
    assert.throws(() => parseApiDocument(root), { code: "UPSTREAM_RESULT_INVALID" });
  }
  for (const version of [
    { openapi: "3.0.0" },
    { openapi: 3.1 },
    { openapi: "3.1.1" },
    { swagger: "2.0" },
    { swagger: 2 },
  ]) {
    assert.deepEqual(parseApiDocument({ ...version, paths: {} }).operations, []);
  }
});

test("malformed entries do not affect others", () => {
  const root = withPaths({
    "/a": { get: null, post: { operationId: 7, parameters: [null, 1, { in: "query" }, { name: "x", in: "moon" }] } },
    "/b": [],
    c: { get: {} },
    "/d": { $ref: "#/nowhere", get: {} },
    "/e/{id}": {
      trace: {},
      get: { operationId: "e", parameters: { not: "a list" }, responses: "none", requestBody: 1 },
    },
  });
  const tools = listTools(root).map(({ tool: { name, input, output } }) => [name, input["properties"], output]);
  assert.deepEqual(tools, [
    ["post_a", {}, null],
    ["e", { id: { type: "string" } }, null],
  ]);
});

test("the second of two operations with one id is named by method and path, and a third of that name is dropped", () => {
  const get = { operationId: "same" };
  const root = withPaths({ "/a-b": { get }, "/a/b": { get }, "/a_b": { get } });
  assert.deepEqual(
    parseApiDocument(root).operations.map(({ name, path }) => [name, path]),
    [
      ["same", "/a-b"],
      ["get_a_b", "/a/b"],
    ],
  );
});

test("an endless chain of references leads nowhere", () => {
  const schemas = { a: { $ref: "#/components/schemas/b" }, b: { $ref: "#/components/schemas/a" } };
  const content = { "application/json": { schema: { $ref: "#/components/schemas/a" } } };
  const post = {
    operationId: "p",
    requestBody: { $ref: "#/components/requestBodies/r" },
    responses: { 200: { content } },
  };
  const root = withPaths({ "/p": { post } }, { components: { schemas, requestBodies: { r: { content } } } });
  const [created] = listTools(root);
  assert.deepEqual([created?.tool.output, created?.isIncomplete], [null, true]);
  assert.deepEqual(created?.tool.input["properties"], { body: {} });
});

test("a readOnly mark beside a reference hides a property like one behind it", () => {
  const schemas = { made: { type: "string", readOnly: true }, plain: { type: "string" } };
  const refer = (name: string, more: JsonObject = {}): Json => ({ $ref: `#/components/schemas/${name}`, ...more });
  const properties = {
    a: refer("made"),
    b: refer("plain", { readOnly: true }),
    c: refer("plain"),
    d: { writeOnly: true },
  };
  const content = { "application/json": { schema: { properties, required: ["a", "b", "c"] } } };
  const post = { requestBody: { content }, responses: { 200: { content } } };
  const [created] = listTools(withPaths({ "/p": { post } }, { components: { schemas } }));
  const { body } = Object(created?.tool.input["properties"]);
  assert.deepEqual([Object.keys(body.properties), body.required], [["c", "d"], ["c"]]);
  const { output } = created?.tool ?? {};
  assert.deepEqual(
    [Object.keys(Object(output?.["properties"])), output?.["required"]],
    [
      ["a", "b", "c"],
      ["a", "b", "c"],
    ],
  );
});

test("a reference cannot reach inherited properties", () => {
  const references = createReferences({ a: [1], "x/y": { "~": 2 } });
  assert.deepEqual(
    ["#/constructor", "#/__proto__", "#/a/length", "#", "a", "#/a/0", "#/x~1y/~0"].map((pointer) =>
      references.find(pointer),
    ),
    [undefined, undefined, undefined, undefined, undefined, 1, 2],
  );
});

test("an endless schema is cut at its budget and depth, and still accepts what the whole one would", () => {
  let deep: Json = { type: "string" };
  for (let level = 0; level < 90; level += 1) deep = { type: "object", properties: { next: deep } };
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, { type: "string" }]));
  const post = (schema: Json): Json => ({ requestBody: { content: { "application/json": { schema } } } });
  const root = withPaths({ "/deep": { post: post(deep) }, "/wide": { post: post({ properties: wide }) } });
  const [first, second] = listTools(root, 10_000);
  assert.ok(depthOf(first?.tool.input ?? {}, 100) < 100);
  assert.ok(JSON.stringify(second?.tool.input).length < 100_000);
  assert.deepEqual(Object(second?.tool.input["properties"]).body.properties.p4999, {});
});

test("a 10 MB document with a thousand entangled operations gives small tools that the catalog accepts", () => {
  const root = createLargeDocument(1000, 3000);
  assert.ok(JSON.stringify(root).length > 9_000_000);
  const tools = listTools(root).map(({ tool }) => tool);
  assert.equal(tools.length, 1000);
  assert.ok(tools.every((tool) => JSON.stringify(tool).length < 20_000));
  assert.deepEqual(runAtOnce(parseListing(tools, (text) => text)).leftOut, []);
});

test("the nearest definitions are kept when not all fit the budget", () => {
  const [created] = listTools(createLargeDocument(200, 100), 3000);
  const defs = Object.entries(Object(created?.tool.input["$defs"])).map(([name, one]) => [name, one]);
  const empty = defs.filter(([, one]) => Object.keys(Object(one)).length === 0);
  assert.deepEqual(defs[0]?.[0], "s0");
  assert.ok(empty.length > 0 && empty.length < defs.length);
  assert.equal(
    defs.findIndex(([, one]) => Object.keys(Object(one)).length === 0),
    defs.length - empty.length,
  );
});

test("operations above the limit are dropped, those up to it are kept", () => {
  const paths = (count: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`/${i}`, { get: {} }]));
  assert.equal(parseApiDocument(withPaths(paths(MAX_OPERATIONS))).operations.length, MAX_OPERATIONS);
  assert.equal(parseApiDocument(withPaths(paths(MAX_OPERATIONS + 1))).operations.length, MAX_OPERATIONS);
});
