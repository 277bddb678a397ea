/** Arguments that are repeated as headers: which schemas may request it, and what is sent. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../../../domain/index.ts";
import { findParamHeaders, toParamHeaders } from "./param-headers.ts";

const of = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const marked = (name: unknown, type = "string"): JsonObject => ({ type, "x-mcp-header": name }) as JsonObject;

test("findParamHeaders finds marks at any depth of properties", () => {
  const schema = of({ a: marked("A"), b: of({ c: marked("C-1", "integer"), d: marked("D", "boolean") }), e: {} });
  assert.deepEqual(findParamHeaders(schema), [
    { path: ["a"], name: "A" },
    { path: ["b", "c"], name: "C-1" },
    { path: ["b", "d"], name: "D" },
  ]);
  assert.deepEqual(findParamHeaders({ type: "object" }), []);
});

test("an invalid header mark makes the whole tool unusable", () => {
  const wrong: readonly JsonObject[] = [
    marked("Root", "object"),
    of({ a: marked("") }),
    of({ a: marked(1) }),
    of({ a: marked("two words") }),
    of({ a: marked("line\r\nbreak") }),
    of({ a: marked("A", "number") }),
    of({ a: marked("A", "object") }),
    of({ a: { "x-mcp-header": "A" } }),
    of({ a: marked("Same"), b: marked("same") }),
    of({ a: { type: "array", items: marked("A") } }),
    { anyOf: [of({ a: marked("A") })] },
    { $defs: { x: marked("A") } },
  ];
  for (const schema of wrong) assert.equal(findParamHeaders(schema), undefined, JSON.stringify(schema));
});

test("values that only mention a header mark do not count", () => {
  const schema = of({ a: { type: "string", enum: ["x-mcp-header"], default: { "x-mcp-header": 1 } } });
  assert.deepEqual(findParamHeaders(schema), []);
});

test("values become header values, and those without a header form are left out", () => {
  const found = ["a", "b"].map((key) => ({ path: ["in", key], name: key.toUpperCase() }));
  const send = (a: JsonObject): unknown => toParamHeaders(found, { in: a });
  assert.deepEqual(send({ a: "plain text", b: 42 }), { "Mcp-Param-A": "plain text", "Mcp-Param-B": "42" });
  assert.deepEqual(send({ a: true, b: false }), { "Mcp-Param-A": "true", "Mcp-Param-B": "false" });
  assert.deepEqual(send({ a: null, b: 2 ** 60 }), {});
  assert.deepEqual(send({ a: {}, b: [] }), {});
  assert.deepEqual(toParamHeaders(found, {}), {});
  assert.deepEqual(toParamHeaders([{ path: ["constructor"], name: "A" }], {}), {});
});

test("a value that would break a header is sent as base64", () => {
  const found = [{ path: ["a"], name: "A" }];
  for (const text of ["", " padded ", "line\r\nX-Evil: 1", "Zürich", "=?base64?eA==?="]) {
    const sent = toParamHeaders(found, { a: text })["Mcp-Param-A"] ?? "";
    assert.equal(Buffer.from(/^=\?base64\?(.*)\?=$/.exec(sent)?.[1] ?? "", "base64").toString(), text);
  }
});
