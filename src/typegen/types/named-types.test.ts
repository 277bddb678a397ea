/** Named types: recursion compiles, shared definitions are declared once, and real schemas accept their values. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Json, JsonObject, JsonSchema, Tool } from "../../domain/index.ts";
import { declareApi } from "../declare-api.ts";
import { declareTool } from "../declare-tool.ts";
import { compile, snapshotOf, toolOf } from "../fixtures/compile.ts";
import { REAL_WORLD } from "../fixtures/real-world.ts";

const SEED = 20_261_116;
const DEFINITIONS = 4;
const KINDS = ["direct", "list", "map", "maybe", "either", "tuple", "both"] as const;

interface Edge {
  readonly kind: (typeof KINDS)[number];
  readonly to: number;
}

const edge: fc.Arbitrary<Edge> = fc.record({ kind: fc.constantFrom(...KINDS), to: fc.nat(DEFINITIONS - 1) });
const graph = fc.array(fc.array(edge, { maxLength: 3 }), { minLength: DEFINITIONS, maxLength: DEFINITIONS });

function toMember({ kind, to }: Edge): JsonSchema {
  const ref = { $ref: `#/$defs/node-${to}` };
  switch (kind) {
    case "direct":
      return ref;
    case "list":
      return { type: "array", items: ref };
    case "map":
      return { type: "object", additionalProperties: ref };
    case "maybe":
      return { anyOf: [ref, { type: "null" }] };
    case "either":
      return { oneOf: [ref, { type: "array", items: ref }, { type: "string" }] };
    case "tuple":
      return { type: "array", prefixItems: [ref, { type: "string" }] };
    case "both":
      return { allOf: [ref, { properties: { extra: { type: "string" } } }] };
    default:
      return kind satisfies never;
  }
}

function toValue(edges: readonly (readonly Edge[])[], at: number, depth: number): JsonObject {
  const own = depth > 2 ? [] : (edges[at] ?? []);
  const inside = (to: number): JsonObject => toValue(edges, to, depth + 1);
  const value = ({ kind, to }: Edge): Json => {
    if (kind === "list" || kind === "either") return [inside(to), inside(to)];
    if (kind === "map") return { any: inside(to) };
    if (kind === "tuple") return [inside(to), "x"];
    return kind === "both" ? { ...inside(to), extra: "x" } : inside(to);
  };
  return { id: at, ...Object.fromEntries(own.map((one, n) => [`p${n}`, value(one)])) };
}

function toSchema(edges: readonly (readonly Edge[])[]): JsonSchema {
  const definitions = edges.map((own, at) => [
    `node-${at}`,
    {
      type: "object",
      properties: { id: { type: "integer" }, ...Object.fromEntries(own.map((one, n) => [`p${n}`, toMember(one)])) },
      required: ["id"],
    },
  ]);
  return { type: "object", properties: { root: { $ref: "#/$defs/node-0" } }, $defs: Object.fromEntries(definitions) };
}

const AWKWARD = ["keyof", "readonly", "asserts", "infer", "is", "abstract", "any", "string", "type", "never", "object"];
const TREE: JsonSchema = {
  type: "object",
  properties: { tree: { $ref: "#/$defs/Tree" } },
  $defs: { Tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } } },
};
const OTHER: JsonSchema = {
  ...TREE,
  $defs: { Tree: { type: "object", properties: { left: { $ref: "#/$defs/Tree" } } } },
};

describe("schemas with references", () => {
  it("schemas with references become declarations that compile and accept valid values", () => {
    const graphs = fc.sample(graph, { numRuns: 150, seed: SEED });
    const real = Object.entries(REAL_WORLD);
    const tools: Tool[] = [
      ...graphs.map((edges, at) => toolOf(`graph.tool${at}`, { input: toSchema(edges), output: toSchema(edges) })),
      ...real.map(([name, { schema }]) => toolOf(`${name}.call`, { input: schema, output: schema })),
      ...AWKWARD.map((name) => toolOf(`${name}.call`, { input: TREE })),
    ];
    const calls = [
      ...graphs.map((edges, at) => `graph.tool${at}(${JSON.stringify({ root: toValue(edges, 0, 0) })});`),
      ...real.map(([name, { value }]) => `${name}.call(${JSON.stringify(value)});`),
      ...AWKWARD.map((name) => `${name}.call({ tree: { kids: [{ kids: [] }] } });`),
      "// @ts-expect-error a wrong field at the third level\nkeyof.call({ tree: { kids: [{ kid: [] }] } });",
      "const named: pydantic.Filter = { field: 'a' };",
      "// @ts-expect-error pydantic's own choice\npydantic.call({ query: named.field, sort: 'up' });",
    ];
    const { declarations } = declareApi(snapshotOf("7", tools));
    const full = tools.map((tool) => declareTool(tool, "full")).filter((text) => !text.includes("declare const graph"));
    const output = compile({
      "api.d.ts": declarations,
      "program.ts": `${calls.join("\n")}\nexport {};`,
      "full.ts": `${full.join("\n")}\nexport {};`,
    });
    assert.equal(output, "", `seed ${SEED}`);
  });
});

describe("a name", () => {
  const declared = (...inputs: readonly JsonSchema[]): string => {
    const tools = inputs.map((input, at) => toolOf(`demo.tool${at}`, { input }));
    const { declarations } = declareApi(snapshotOf(String(inputs.length), tools));
    return declarations.slice(declarations.indexOf("declare namespace"));
  };

  it("a name is declared once for a definition that several tools share", () => {
    assert.equal(
      declared(TREE, TREE),
      `declare namespace demo {
  type Tree = {
    kids?: demo.Tree[];
  };
}
declare const demo: {
  /** About demo.tool0 (read) */
  tool0(args?: {
    tree?: demo.Tree;
  }): Promise<any>;
  /** About demo.tool1 (read) */
  tool1(args?: {
    tree?: demo.Tree;
  }): Promise<any>;
};
`,
    );
  });
  it("differs for different definitions of the same name", () => {
    const types = declared(TREE, OTHER, TREE).match(/^ {2}type .*$/gm);
    assert.deepEqual(types, ["  type Tree = {", "  type Tool1ArgsTree = {"]);
  });
  it("a name is derived from the method for a schema that contains itself", () => {
    const self: JsonSchema = { type: "object", properties: { inner: { $ref: "#" }, note: { type: "string" } } };
    assert.match(declared(self, TREE, TREE, TREE), /^ {2}type Tool0Args = \{\n {4}inner\?: demo\.Tool0Args;$/m);
  });
  it("a name is not used for definitions that are short or used once", () => {
    const $defs = {
      once: { type: "object", properties: { a: { type: "string" } } },
      short: { type: ["string", "null"] },
    };
    const properties = { a: { $ref: "#/$defs/once" }, b: { $ref: "#/$defs/short" }, c: { $ref: "#/$defs/short" } };
    const text = declareTool(toolOf("demo.it", { input: { type: "object", properties, $defs } }), "types");
    assert.equal(
      text,
      `declare const demo: {
  /** About demo.it (read) */
  it(args?: {
    a?: {
      a?: string;
    };
    b?: string | null;
    c?: string | null;
  }): Promise<any>;
};`,
    );
  });
  it("never shadows a type that the declarations use", () => {
    const list = { type: "object", properties: { next: { $ref: "#/$defs/array" }, all: { items: { type: [] } } } };
    const input = { type: "object", properties: { a: { $ref: "#/$defs/array" } }, $defs: { array: list } };
    assert.match(declareTool(toolOf("demo.it", { input }), "types"), /type TypeArray = /);
  });
});
