/** The arguments of a guest are measured, parsed and checked against the schema, whatever either of them contains. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { JsonSchema, Limits } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createTool } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseArguments } from "./parse-arguments.ts";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    owner: { type: "string", pattern: "^[\\w-]+$" },
    page: { type: "integer", minimum: 1, maximum: 9 },
    filter: { type: "object", properties: { state: { enum: ["open", "closed"] } } },
    labels: { type: "array", items: { type: "string" }, uniqueItems: true },
    since: { type: "string", format: "date" },
  },
  required: ["owner"],
  additionalProperties: false,
};

function parse(raw: unknown, limits: Partial<Limits> = {}, input: JsonSchema = { type: "object" }): unknown {
  return runAtOnce(parseArguments(createTool("github.listIssues", { input }), raw, { ...DEFAULT_LIMITS, ...limits }));
}

function invalid(problem: string, signature = "Record<string, unknown>"): GloveboxError {
  return new GloveboxError("TOOL_ARGUMENTS_INVALID", `github.listIssues: ${problem}`, {
    hint: `The call is github.listIssues(${signature})`,
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
  it("the size of arguments is accepted below and at the limit", () => {
    assert.deepEqual(parse('{"a":"123456789ab"}', { argumentBytes: 20 }), { a: "123456789ab" });
    assert.deepEqual(parse('{"a":"123456789abc"}', { argumentBytes: 20 }), { a: "123456789abc" });
  });
  it("the size of arguments is refused above the limit", () => {
    assert.throws(() => parse('{"a":"123456789abcd"}', { argumentBytes: 20 }), tooLarge(21));
  });
  it("the size of arguments is counted in bytes of UTF-8", () => {
    assert.deepEqual(parse('{"a":"€€€€"}', { argumentBytes: 20 }), { a: "€€€€" });
    assert.throws(() => parse('{"a":"€€€€€"}', { argumentBytes: 20 }), tooLarge(23));
  });
  it("the size of arguments is measured before the JSON is parsed", () => {
    assert.throws(() => parse("[".repeat(21), { argumentBytes: 20 }), tooLarge(21));
  });
});

describe("the depth of arguments", () => {
  it("the depth of arguments is accepted below and at the limit", () => {
    assert.equal(JSON.stringify(parse(nested(3), { depth: 4 })), nested(3));
    assert.equal(JSON.stringify(parse(nested(4), { depth: 4 })), nested(4));
  });
  it("the depth of arguments is refused above the limit, without running out of stack", () => {
    const error = new GloveboxError(
      "LIMIT_SIZE",
      "The arguments of github.listIssues nest deeper than 4 levels (depth)",
    );
    assert.throws(() => parse(nested(5), { depth: 4 }), error);
    assert.throws(() => parse(nested(100_000), { depth: 4 }), error);
  });
});

describe("arguments that are not an object", () => {
  for (const raw of ["", "null", "1", '"x"', "[]", "[{}]", "{", "{}{}", "{'a':1}", undefined, null, {}, 1]) {
    it(`arguments that are not an object are refused: ${JSON.stringify(raw) ?? "undefined"} (${typeof raw})`, () => {
      assert.throws(() => parse(raw), invalid("it takes one object of named arguments"));
    });
  }
  it("arguments that are not an object are accepted if they are an object", () =>
    assert.deepEqual(parse(' {"a": null} '), { a: null }));
});

describe("the key __proto__", () => {
  for (const text of [
    '{"__proto__":1}',
    '{"a":{"__proto__":{}}}',
    '{"a":[1,{"b":[{"__proto__":null}]}]}',
    '{"\\u005f_proto__":1}',
  ]) {
    it(`the key __proto__ is refused in ${text}`, () =>
      assert.throws(() => parse(text), invalid("a key may not be called __proto__")));
  }
  it("the key __proto__ is accepted as a value, and similar keys are accepted", () => {
    const args = { a: "__proto__", proto: 1, constructor: { prototype: 2 } };
    assert.deepEqual(parse(JSON.stringify(args)), args);
  });
});

describe("a schema mismatch", () => {
  const signature =
    '{ owner: string; page?: number; filter?: { state?: "open" | "closed"; }; labels?: string[]; since?: string; }';
  const cases = [
    ["{}", "owner is missing"],
    ['{"owner":1}', "owner: expected string, got number"],
    ['{"owner":"a","page":1.5}', "page: expected integer, got number"],
    ['{"owner":"a","page":10}', "page: 10 is greater than 9"],
    ['{"owner":"a","filter":{"state":"x"}}', 'filter.state: expected one of "open","closed"'],
    ['{"owner":"a","labels":["x",2]}', "labels[1]: expected string, got number"],
    ['{"owner":"a","lables":"b"}', "lables: is not allowed here; did you mean labels?"],
    ['{"ownr":"a"}', "owner is missing; did you misspell it as ownr?; ownr: is not allowed here; did you mean owner?"],
    ['{"owner":"a","labels":["x","y","x"]}', "labels: items 0 and 2 are equal; all items must differ"],
    ['{"owner":"a b"}', "owner: does not match the pattern ^[\\w-]+$"],
    ['{"owner":"a","since":"now"}', 'since: expected the format "date", for example 2000-01-01'],
    ['{"page":0,"labels":1}', "owner is missing; page: 0 is less than 1; labels: expected array, got number"],
  ] as const;
  for (const [text, problem] of cases) {
    it(`names the field of ${text}`, () => assert.throws(() => parse(text, {}, SCHEMA), invalid(problem, signature)));
  }
  it("names an exclusive bound as such", () => {
    const schema = { properties: { a: { exclusiveMinimum: 0, exclusiveMaximum: 5 } } };
    const [low, high] = ["a: 0 is not greater than 0", "a: 5 is not less than 5"];
    assert.throws(() => parse('{"a":0}', {}, schema), { message: new RegExp(low) });
    assert.throws(() => parse('{"a":5}', {}, schema), { message: new RegExp(high) });
    assert.deepEqual(parse('{"a":1}', {}, schema), { a: 1 });
  });
  it("a schema mismatch is not reported for arguments that fit", () => {
    const args = { owner: "a", page: 9, filter: { state: "open" }, labels: ["x"] };
    assert.deepEqual(parse(JSON.stringify(args), {}, SCHEMA), args);
  });
  it("with alternatives names the expected types", () => {
    const one = { properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind"] };
    const properties = { maybe: { anyOf: [{ type: "string" }, { type: "null" }] }, either: { oneOf: [one, false] } };
    const told = (args: object): string => tell(JSON.stringify(args), { type: "object", properties }).message;
    assert.equal(told({ maybe: 1 }), "github.listIssues: maybe: expected string or null, got number");
    assert.match(
      told({ either: { kind: "b" } }),
      /either: fits none of the alternatives; in one of them either\.kind is wrong/,
    );
    assert.deepEqual(parse('{"maybe":null}', {}, { properties }), { maybe: null });
  });
  it("lists five problems and counts the others", () => {
    const properties = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`p${n}`, { type: "string" }]));
    const args = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
    assert.match(tell(JSON.stringify(args), { properties }).message, /p4: expected string, got number; and 3 more$/);
  });
  it("a schema mismatch is described in at most 1,500 characters", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`p${n}${"n".repeat(150)}`, { enum: ["x".repeat(300)] }]),
    );
    const args = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]));
    const { message, details } = tell(JSON.stringify(args), { properties });
    assert.equal(message.length, 800);
    assert.ok(message.length + (details.hint ?? "").length <= 1_500);
  });
});

/** The refusal of arguments that must not be accepted. */
function tell(text: string, input: JsonSchema): GloveboxError {
  try {
    parse(text, {}, input);
  } catch (thrown) {
    assert.ok(thrown instanceof GloveboxError);
    return thrown;
  }
  return assert.fail("it was accepted");
}
