/** Which questions of a server reach a person, and in which form. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../../domain/index.ts";
import { MAX_FIELDS, parseQuestion } from "./parse-question.ts";

const SERVER = parseConnectorId("shop") ?? assert.fail();
const clean = (text: string): string => text.replaceAll("\u001b", "");
const parse = (raw: unknown) => parseQuestion(raw, SERVER, clean);
const form = (properties: object, more: object = {}) =>
  parse({ message: "Who?", requestedSchema: { type: "object", properties }, ...more });
const fieldOf = (field: object): unknown => {
  const question = form({ a: field });
  return question?.mode === "form" ? Object.values(question.schema["properties"] ?? {})[0] : undefined;
};

describe("parseQuestion of a form", () => {
  it("keeps plain fields, choices and bounds, and cleans every text", () => {
    assert.deepEqual(form({ name: { type: "string", title: "N\u001bame", maxLength: 5, pattern: "(a+)+$" } }), {
      mode: "form",
      server: "shop",
      message: "Who?",
      schema: {
        type: "object",
        properties: { name: { type: "string", title: "Name", maxLength: 5 } },
        required: [],
      },
    });
    assert.deepEqual(fieldOf({ type: "string", oneOf: [{ const: "x", title: "X" }] }), { type: "string", enum: ["x"] });
    assert.deepEqual(fieldOf({ type: "array", items: { anyOf: [{ const: "x", title: "X" }] } }), {
      type: "array",
      items: { type: "string", enum: ["x"] },
      uniqueItems: true,
    });
  });
  it("refuses nested fields, too many of them, and what is not a form", () => {
    assert.ok(form({ a: { type: "string" } }));
    for (const field of [{ type: "object", properties: {} }, { type: "array", items: { type: "string" } }, {}, "x"])
      assert.equal(form({ a: field }), undefined);
    const many = (count: number) =>
      form(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { type: "boolean" }])));
    assert.ok(many(MAX_FIELDS));
    assert.equal(many(MAX_FIELDS + 1), undefined);
    assert.equal(form({ "a\nb": { type: "string" } }), undefined);
    for (const raw of [
      undefined,
      {},
      { message: 7 },
      { message: "x", requestedSchema: [] },
      { message: "x", mode: "y" },
    ])
      assert.equal(parse(raw), undefined);
  });
});

describe("parseQuestion of an address", () => {
  it("accepts web addresses and nothing else", () => {
    const ask = (url: string) => parse({ mode: "url", message: "Open", elicitationId: "1", url });
    const expected = { mode: "url", server: "shop", message: "Open", url: "https://a.example/x" };
    assert.deepEqual(ask("https://a.example/x"), expected);
    for (const url of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "https://me:pw@a.example/",
      "x",
      `https://a/${"x".repeat(3000)}`,
    ])
      assert.equal(ask(url), undefined);
  });
});
