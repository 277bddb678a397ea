/** Which literals become parameters, what they are called, and what the code looks like afterwards. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import { parseConnectorId } from "../../domain/index.ts";
import type { Json, Program } from "../../domain/index.ts";
import { known } from "../fixtures/open-skills.ts";
import { generalize } from "./generalize.ts";
import { inferSchema } from "./infer-schema.ts";

const NAMESPACES = [{ name: "shop", connector: known(parseConnectorId("shop")), summary: "", tools: ["list"] }];
const OPTIONS = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: { sourceBytes: 262_144 } };

function programOf(source: string): Program {
  const analyzed = analyze(source, { namespaces: NAMESPACES }, OPTIONS);
  assert.ok(analyzed.ok, source);
  return analyzed.program;
}

function general(source: string, { keep = [], input }: { keep?: readonly string[]; input?: Json } = {}) {
  const ran = { program: programOf(source), ...(input !== undefined && { input }) };
  const { parameters, bodies, argument, inputs } = generalize([ran], { namespaces: NAMESPACES, keep });
  const values = Object.fromEntries(parameters.map(({ name, values: of }) => [name, of[0]]));
  return { values, body: bodies[0] ?? "", argument, inputs };
}

describe("a program with literals", () => {
  it("has parameters for arguments of tools, constants of the top level, lists and compared fields", () => {
    const { values, body } = general(
      [
        'const region = "eu";',
        'const found = await shop.list({ region, limit: -5, tags: ["a", "b"], deep: { on: true } });',
        "const low = found.filter((one) => one.stock < 10 && one.name.length > 0);",
        'for (const sku of ["x", "y"]) console.log(sku);',
        'return low.map((one) => one.name).join(", ")',
      ].join("\n"),
    );
    assert.deepEqual(values, { region: "eu", limit: -5, tags: ["a", "b"], on: true, stock: 10, skus: ["x", "y"] });
    assert.match(body, /limit: input\.limit, tags: input\.tags, deep: \{ on: input\.on \}/);
    assert.match(body, /one\.stock < input\.stock && one\.name\.length > 0/);
    assert.match(body, /for \(const sku of input\.skus\).*join\(", "\)/s);
  });
  it("has one parameter for the same literal with the same name, and numbered ones for others", () => {
    const { values, body } = general(
      'await shop.list({ id: "a" }); await shop.list({ id: "b" }); await shop.list({ id: "a" })',
    );
    assert.deepEqual(values, { id: "a", id2: "b" });
    assert.match(body, /input\.id \}.*input\.id2 \}.*input\.id \}/);
  });
  it("keeps what it is told to, and names that the input has already", () => {
    assert.deepEqual(general('return shop.list({ id: "a", limit: 5 })', { keep: ["limit"] }).values, { id: "a" });
    const { values, inputs } = general('return shop.list({ id: "a", other: input.id })', { input: { id: 1 } });
    assert.deepEqual([values, inputs], [{ id2: "a" }, [{ id: 1, id2: "a" }]]);
  });
  it("takes its parameters from another name if it declares `input` itself", () => {
    const { argument, body } = general('const input = 1; return shop.list({ id: "a", input })');
    assert.deepEqual([argument, /given\.id/.test(body)], ["given", true]);
    const both = general('const input = 1, given = 2; return shop.list({ id: "a", input, given })');
    assert.equal(both.argument, "given2");
  });
  it("does not take keys, directives, patterns or parts of other expressions for parameters", () => {
    const { values } = general(
      '"use strict"; const x = await shop.list({ "a-b": String(1), ["k"]: /x/.test("y") }); return x["z"] ?? null',
    );
    assert.deepEqual(values, {});
  });
  it("keeps types, fences and the result of the last line in the text of its body", () => {
    const { body } = general('```ts\nconst all: string[] = await shop.list({ id: "a" as string });\nall.length\n```');
    assert.match(
      body,
      /const all: string\[\] = await shop\.list\(\{ id: input\.id as string \}\);\nreturn \(all\.length\)/,
    );
    assert.doesNotMatch(body, /```/);
  });
});

describe("several programs", () => {
  const of = (...sources: readonly string[]) => {
    const [first, ...others] = sources.map((source) => ({ program: programOf(source) }));
    return generalize([known(first), ...others], { namespaces: NAMESPACES, keep: [] });
  };
  it("have exactly what differs as parameters, also where a single one would have none", () => {
    const { parameters, inputs } = of(
      'return [await shop.list({ a: 1 }), "x"]',
      'return [await shop.list({ a: 1 }), "y"]',
    );
    assert.deepEqual(parameters, [{ name: "value", values: ["x", "y"] }]);
    assert.deepEqual(inputs, [{ value: "x" }, { value: "y" }]);
  });
  it("have two parameters for a literal that is the same in the first program only", () => {
    const { parameters } = of("shop.list({ a: 1 }); shop.list({ a: 1 })", "shop.list({ a: 1 }); shop.list({ a: 2 })");
    assert.deepEqual(parameters, [{ name: "a", values: [1, 2] }]);
    const both = of("shop.list({ a: 1 }); shop.list({ a: 1 })", "shop.list({ a: 3 }); shop.list({ a: 2 })");
    assert.deepEqual(
      both.parameters.map(({ name }) => name),
      ["a", "a2"],
    );
  });
  it("are refused if they differ in more than literals, or in the types of literals", () => {
    assert.throws(() => of("shop.list({ a: 1 })", "shop.list({ b: 1 })"), { code: "REQUEST_INVALID" });
    assert.throws(() => of("shop.list({ a: 1 })", 'shop.list({ a: "1" })'), { code: "REQUEST_INVALID" });
    assert.equal(of("shop.list({ a: 1 })", "shop.list({  a: 2 })".replace("  ", " ")).parameters.length, 1);
  });
});

describe("an inferred schema", () => {
  it("has the types and keys that the values have in common, and nothing about null", () => {
    const infer = (...values: readonly Json[]) => inferSchema(values, { hasRequired: true });
    assert.deepEqual(infer(1, 2.5), { type: "number" });
    assert.deepEqual(infer(1, "a"), {});
    assert.deepEqual([infer(null), infer(1, null), infer()], [{}, {}, {}]);
    assert.deepEqual(infer([], ["a"]), { type: "array", items: { type: "string" } });
    assert.deepEqual(infer({ a: 1, b: null }, { a: 2 }), {
      type: "object",
      properties: { a: { type: "number" }, b: {} },
      required: ["a"],
    });
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
    assert.deepEqual([Object.keys(infer(keys(50))).length, infer(keys(51))], [3, { type: "object" }]);
  });
});
