/** Step 3: what a guest sends is measured, parsed and held against the schema, whatever either of them contains. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError } from "../domain/index.ts";
import type { JsonSchema, Limits } from "../domain/index.ts";
import { createTool } from "./fixtures/test-bridge.ts";
import { parseArguments } from "./parse-arguments.ts";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    owner: { type: "string" },
    page: { type: "integer", minimum: 1, maximum: 9 },
    filter: { type: "object", properties: { state: { enum: ["open", "closed"] } } },
    labels: { type: "array", items: { type: "string" } },
  },
  required: ["owner"],
  additionalProperties: false,
};

function parse(raw: unknown, limits: Partial<Limits> = {}, input: JsonSchema = { type: "object" }): unknown {
  return parseArguments(createTool("github.listIssues", { input }), raw, { ...DEFAULT_LIMITS, ...limits });
}

function invalid(problem: string): GloveboxError {
  return new GloveboxError("TOOL_ARGUMENTS_INVALID", `github.listIssues: ${problem}`, {
    hint: 'Read its signature with describe({ names: ["github.listIssues"] })',
  });
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
}

const tooLarge = (bytes: number): GloveboxError =>
  new GloveboxError(
    "LIMIT_SIZE",
    `The arguments of github.listIssues have ${bytes} bytes; the limit is 20 (argumentBytes)`,
    {
      hint: "Send less in one call",
    },
  );

describe("the size of arguments", () => {
  it("is accepted below and at the limit", () => {
    assert.deepEqual(parse('{"a":"123456789ab"}', { argumentBytes: 20 }), { a: "123456789ab" });
    assert.deepEqual(parse('{"a":"123456789abc"}', { argumentBytes: 20 }), { a: "123456789abc" });
  });
  it("is refused above the limit", () => {
    assert.throws(() => parse('{"a":"123456789abcd"}', { argumentBytes: 20 }), tooLarge(21));
  });
  it("is counted in bytes of UTF-8", () => {
    assert.deepEqual(parse('{"a":"€€€€"}', { argumentBytes: 20 }), { a: "€€€€" });
    assert.throws(() => parse('{"a":"€€€€€"}', { argumentBytes: 20 }), tooLarge(23));
  });
  it("is measured before the text is parsed", () => {
    assert.throws(() => parse("[".repeat(21), { argumentBytes: 20 }), tooLarge(21));
  });
});

describe("the depth of arguments", () => {
  it("is accepted below and at the limit", () => {
    assert.equal(JSON.stringify(parse(nested(3), { depth: 4 })), nested(3));
    assert.equal(JSON.stringify(parse(nested(4), { depth: 4 })), nested(4));
  });
  it("is refused above the limit, and without end", () => {
    const error = new GloveboxError(
      "LIMIT_SIZE",
      "The arguments of github.listIssues nest deeper than 4 levels (depth)",
    );
    assert.throws(() => parse(nested(5), { depth: 4 }), error);
    assert.throws(() => parse(nested(100_000), { depth: 4 }), error);
  });
});

describe("arguments that are no object", () => {
  for (const raw of ["", "null", "1", '"x"', "[]", "[{}]", "{", "{}{}", "{'a':1}", undefined, null, {}, 1]) {
    it(`are refused: ${JSON.stringify(raw) ?? "undefined"} (${typeof raw})`, () => {
      assert.throws(() => parse(raw), invalid("it takes one object of named arguments"));
    });
  }
  it("have a twin that is one", () => assert.deepEqual(parse(' {"a": null} '), { a: null }));
});

describe("the key __proto__", () => {
  for (const text of [
    '{"__proto__":1}',
    '{"a":{"__proto__":{}}}',
    '{"a":[1,{"b":[{"__proto__":null}]}]}',
    '{"\\u005f_proto__":1}',
  ]) {
    it(`is refused in ${text}`, () => assert.throws(() => parse(text), invalid("a key may not be called __proto__")));
  }
  it("is fine as a value, and so are its neighbours", () => {
    const args = { a: "__proto__", proto: 1, constructor: { prototype: 2 } };
    assert.deepEqual(parse(JSON.stringify(args)), args);
  });
});

describe("a schema mismatch", () => {
  const cases = [
    ["{}", 'Instance does not have required property "owner".'],
    ['{"owner":1}', 'owner: Instance type "number" is invalid. Expected "string".'],
    ['{"owner":"a","page":1.5}', 'page: Instance type "number" is invalid. Expected "integer".'],
    ['{"owner":"a","page":10}', "page: 10 is greater than 9."],
    ['{"owner":"a","filter":{"state":"x"}}', 'filter.state: Instance does not match any of ["open","closed"].'],
    ['{"owner":"a","labels":["x",2]}', 'labels.1: Instance type "number" is invalid. Expected "string".'],
    ['{"owner":"a","ownr":"b"}', "ownr: False boolean schema."],
  ] as const;
  for (const [text, problem] of cases) {
    it(`names the field of ${text}`, () => assert.throws(() => parse(text, {}, SCHEMA), invalid(problem)));
  }
  it("has a twin that fits", () => {
    const args = { owner: "a", page: 9, filter: { state: "open" }, labels: ["x"] };
    assert.deepEqual(parse(JSON.stringify(args), {}, SCHEMA), args);
  });
  it("is told in at most 300 characters", () => {
    const input: JsonSchema = { properties: { a: { enum: ["x".repeat(5_000)] } } };
    try {
      parse('{"a":1}', {}, input);
      assert.fail("it was accepted");
    } catch (thrown) {
      assert.ok(thrown instanceof GloveboxError);
      assert.equal(thrown.message.length, "github.listIssues: ".length + 300);
    }
  });
});
