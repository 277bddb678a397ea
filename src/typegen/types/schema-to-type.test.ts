/** What each keyword becomes, and what hostile schemas cannot do. `compile.test.ts` checks that the text compiles. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { resolveRef } from "./resolve-ref.ts";
import { schemaToType } from "./schema-to-type.ts";

const types = (cases: readonly (readonly [JsonSchema, string])[]): void => {
  for (const [schema, type] of cases) assert.equal(schemaToType(schema), type, JSON.stringify(schema));
};
const lines = (...all: readonly string[]): string => all.join("\n");

describe("a type", () => {
  it("expresses scalars, literals and choices", () => {
    types([
      [{}, "unknown"],
      [{ type: "string" }, "string"],
      [{ type: "integer" }, "number"],
      [{ type: ["string", "null"] }, "string | null"],
      [{ type: "string", nullable: true }, "string | null"],
      [{ type: "string", enum: ["a", 'b"c'] }, '"a" | "b\\"c"'],
      [
        { enum: [1, -2.5, true, null, { a: 1 }, [1]] },
        "1 | -2.5 | true | null | Record<string, unknown> | Array<unknown>",
      ],
      [{ const: "x" }, '"x"'],
      [{ const: null }, "null"],
      [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "string" }] }, "string | number"],
      [{ oneOf: [{ const: 1 }, false] }, "1"],
      [{ allOf: [{ type: "string" }, { anyOf: [{ const: "a" }, { const: "b" }] }] }, 'string & ("a" | "b")'],
      [{ anyOf: [{ type: "string" }, true] }, "unknown"],
      [{ type: "banana" }, "unknown"],
    ]);
  });
  it("treats a schema with only required as an object if another part describes the same value", () => {
    const needy = { required: ["a"] };
    types([
      [{ type: "object", properties: { list: needy } }, "{\n  list?: unknown;\n}"],
      [{ type: "array", items: needy }, "unknown[]"],
      [needy, "{\n  a: unknown;\n}"],
      [
        { type: "object", properties: { a: { type: "string" } }, anyOf: [needy, { required: ["b"] }] },
        "{\n  a?: string;\n} & ({\n  a: unknown;\n} | {\n  b: unknown;\n})",
      ],
    ]);
  });
  it("expresses arrays and tuples of both drafts", () => {
    types([
      [{ type: "array" }, "unknown[]"],
      [{ type: "array", items: { type: "string" } }, "string[]"],
      [{ items: { type: ["string", "null"] } }, "Array<string | null>"],
      [{ prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, items: false }, "[string, number]"],
      [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }, "[string?, ...number[]]"],
      [{ type: "array", items: [{ type: ["string", "null"] }], additionalItems: false }, "[(string | null)?]"],
    ]);
  });
  it("expresses objects without properties", () => {
    types([
      [{ type: "object" }, "Record<string, unknown>"],
      [{ type: "object", properties: {} }, "Record<string, unknown>"],
      [{ type: "object", additionalProperties: false }, "Record<string, never>"],
      [{ additionalProperties: { type: "number" } }, "Record<string, number>"],
      [{ patternProperties: { "^x": { type: "number" } } }, "Record<string, number>"],
    ]);
  });
  it("expresses required and optional properties with comments", () => {
    const schema = {
      type: "object",
      properties: {
        owner: { type: "string", description: "Login of\nthe owner" },
        "per-page": { type: "integer", default: 30, deprecated: true },
        nested: { type: "object", properties: { a: { type: "null" } }, additionalProperties: true },
      },
      required: ["owner", "extra"],
    };
    assert.equal(
      schemaToType(schema),
      lines(
        "{",
        "  /** Login of the owner */",
        "  owner: string;",
        "  /** @deprecated @default 30 */",
        '  "per-page"?: number;',
        "  nested?: {",
        "    a?: null;",
        "    [key: string]: unknown;",
        "  };",
        "  extra: unknown;",
        "}",
      ),
    );
  });
  it("adds comments for facts that a type cannot express", () => {
    const schema = {
      properties: {
        page: { type: "integer", minimum: 0, exclusiveMinimum: true, maximum: 9, multipleOf: 3, description: "Page" },
        at: { type: "string", format: "date-time", minLength: 1, pattern: "^a*/$" },
        tags: { type: "array", minItems: 2, maxItems: 2, uniqueItems: true },
        city: { $ref: "#/$defs/city" },
      },
      dependentRequired: { at: ["page", "tags"] },
      $defs: { city: { type: "string", description: "A city", exclusiveMaximum: 1 } },
    };
    assert.equal(
      schemaToType(schema),
      lines(
        "{",
        "  /** Page (> 0, ≤ 9, multiple of 3) */",
        "  page?: number;",
        "  /** format date-time, length ≥ 1, matches ^a*\\/$, needs page, tags */",
        "  at?: string;",
        "  /** items 2, unique items */",
        "  tags?: unknown[];",
        "  /** A city */",
        "  city?: string;",
        "}",
      ),
    );
  });
  it("shows examples if requested", () => {
    const schema = { properties: { a: { type: "string", examples: ["x", "*/"] }, b: { example: 1 } } };
    const type = schemaToType(schema, { examples: true });
    assert.match(type, /@example "x" @example "\*\\\/" \*\/[^]*@example 1 \*\//);
  });
  it("expresses listed property names and schemas without values", () => {
    types([
      [{ propertyNames: { enum: ["a", "b-c"] } }, '{ [key in "a" | "b-c"]?: unknown }'],
      [{ propertyNames: { pattern: "x" }, additionalProperties: { type: "null" } }, "Record<string, null>"],
      [{ type: "string", not: {} }, "never"],
      [{ type: "string", not: { const: "a" } }, "string"],
    ]);
  });
  it("omits comments and writes any if requested", () => {
    const schema = { properties: { a: { description: "b" } }, patternProperties: { x: true } };
    const type = schemaToType(schema, { commentLength: 0, open: "any" });
    assert.equal(type, lines("{", "  a?: any;", "  [key: string]: any;", "}"));
  });
});

describe("a reference", () => {
  const $defs = { id: { type: "string" }, "a/b": { type: "number" }, list: { items: { $ref: "#/$defs/list" } } };

  it("a reference is resolved inside its document", () => {
    types([
      [{ $ref: "#/$defs/id", $defs }, "string"],
      [{ $ref: "#/$defs/a~1b", $defs }, "number"],
      [{ $ref: "#/definitions/x", definitions: { x: { type: "null" } } }, "null"],
      [{ type: "object", $ref: "#/$defs/id", $defs }, "string"],
      [{ $ref: "#here", $defs: { x: { $anchor: "here", type: "null" } } }, "null"],
      [{ $ref: "#old", definitions: { x: { id: "#old", type: "null" } } }, "null"],
      [{ $dynamicRef: "#d", $defs: { x: { $dynamicAnchor: "d", type: "null" } } }, "null"],
      [{ $id: "https://a.example/s", $ref: "https://a.example/s#/$defs/id", $defs }, "string"],
    ]);
  });
  it("a reference becomes unknown if its target is missing, in another document or inherited", () => {
    const elsewhere = ["#/$defs/missing", "https://example.com/x", "file:///etc/passwd", "#/constructor", "#/%", "#id"];
    for (const $ref of elsewhere) assert.equal(schemaToType({ $ref, $defs }), "unknown");
  });
  it("never resolves to an inherited property", () => {
    assert.equal(resolveRef({ a: {} }, "#/__proto__"), undefined);
    assert.equal(resolveRef({ a: {} }, "#/a/toString"), undefined);
    assert.deepEqual(resolveRef({ a: { b: [1, { c: 2 }] } }, "#/a/b/1"), { c: 2 });
  });
  it("to itself terminates", () => {
    types([
      [{ $ref: "#" }, "unknown"],
      [{ $ref: "#/$defs/list", $defs }, "unknown[]"],
    ]);
  });
});

describe("a hostile schema", () => {
  const CLOSED = 'x */ } declare const evil: 1; /* \n"} @ts-ignore \u2028 // \u202e';

  it("a hostile schema stays inside comments and literals", () => {
    const type = schemaToType({
      properties: { [CLOSED]: { const: CLOSED, description: CLOSED, default: CLOSED } },
      tsType: "evil",
    });
    const comment = 'x *\\/ } declare const evil: 1; /* "} @ ts-ignore //';
    const literal = '"x */ } declare const evil: 1; /* \\n\\"} @ts-ignore \\u2028 // \\u202e"';
    assert.equal(
      type,
      lines("{", `  /** ${comment} @default ${toDefaultComment()} */`, `  ${literal}?: ${literal};`, "}"),
    );
  });
  it("a hostile schema is bounded by depth before the stack overflows", () => {
    assert.equal(schemaToType(nest(23)), `${"Array<".repeat(22)}string[]${">".repeat(22)}`);
    assert.equal(schemaToType(nest(24)), `${"Array<".repeat(23)}unknown[]${">".repeat(23)}`);
    assert.equal(schemaToType(nest(5000)), schemaToType(nest(24)));
  });
  it("a hostile schema stays small if it doubles with every reference", () => {
    const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [String(at), twice(at + 1)]));
    assert.ok(schemaToType({ ...twice(0), $defs }).length < 40_000);
  });
  it("keeps the first of many properties and gets an index signature", () => {
    assert.doesNotMatch(many(1000), /key: string/);
    assert.match(many(5000), /p1000\?: unknown;[^]*\[key: string\]: unknown;\n}$/);
    assert.ok(many(50_000).length < 64_000);
  });
  it("a hostile schema loses long names, long literals and long enums", () => {
    types([
      [{ properties: { ["x".repeat(201)]: true } }, lines("{", "  [key: string]: unknown;", "}")],
      [{ const: "x".repeat(200) }, `"${"x".repeat(200)}"`],
      [{ const: "x".repeat(201) }, "string"],
      [{ type: "number", enum: Array.from({ length: 101 }, (_, at) => at) }, "number"],
    ]);
    assert.equal(schemaToType({ enum: Array.from({ length: 100 }, (_, at) => at) }).split(" | ").length, 100);
  });
  it("always has a type", () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "allOf",
      "anyOf",
      "enum",
      "$ref",
      "required",
      "const",
    );
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<Json>("object", "array", "#", null, true, 1),
        fc.array(tie("schema"), { maxLength: 3 }),
        fc.dictionary(keyword, tie("schema"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(fc.property(fc.dictionary(keyword, schema), (any) => assert.ok(schemaToType(any).length > 0)));
  });
});

/** A default is JSON, so its quotes and line breaks are already escaped. */
function toDefaultComment(): string {
  return '"x *\\/ } declare const evil: 1; /* \\n\\"} @ ts-ignore // "';
}

function nest(depth: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let at = 0; at < depth; at += 1) schema = { type: "array", items: schema };
  return schema;
}

function twice(at: number): JsonObject {
  return { prefixItems: [{ $ref: `#/$defs/${at}` }, { $ref: `#/$defs/${at}` }] };
}

function many(count: number): string {
  return schemaToType({ properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, true])) });
}
