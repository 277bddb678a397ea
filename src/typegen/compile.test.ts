/** For any schemas, the declarations compile, accept valid values, and refuse wrong programs. */

import assert from "node:assert/strict";
import { it } from "node:test";
import * as fc from "fast-check";

import { parseToolAddress } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";
import { declareApi } from "./declare-api.ts";
import { declareTool } from "./declare-tool.ts";
import { compile, known, snapshotOf, toolOf as plainTool } from "./fixtures/compile.ts";
import { schemaToType } from "./types/schema-to-type.ts";

const SEED = 20_261_101;

/** Text that would be harmful outside of its comment or quotes. */
const hostile = fc.oneof(
  fc.constantFrom("*/ declare const evil: 1; /*", "\n}", '"', "'", "`${1}`", "\\", "\u2028", "//", "@ts-ignore", "<a>"),
  fc.constantFrom(
    "new",
    "constructor",
    "get",
    "readonly",
    "public",
    "static",
    "async",
    "__proto__",
    "1",
    "1e3",
    "a-b",
    "",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);

interface Case {
  readonly schema: JsonSchema;
  /** A value that the schema accepts. */
  readonly value: Json;
}

const scalar: fc.Arbitrary<Case> = fc.oneof(
  hostile.map((value) => ({ schema: { type: "string", description: value, default: value }, value })),
  hostile.map((value) => ({ schema: { type: "string", enum: ["other", value] }, value })),
  hostile.map((value) => ({ schema: { const: value }, value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ schema: { enum: [value, 7] }, value })),
  fc.integer().map((value) => ({ schema: { type: ["integer", "null"] }, value })),
  fc.boolean().map((value) => ({ schema: { type: "boolean", nullable: true }, value })),
  fc.constantFrom<Case>({ schema: {}, value: [1] }, { schema: { type: "object" }, value: { a: 1 } }),
);

const { any } = fc.letrec<{ any: Case }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("any"), { maxLength: 3 }).map(toArrayCase),
    fc.array(tie("any"), { maxLength: 3 }).map(toTupleCase),
    fc.tuple(fc.dictionary(hostile, tie("any"), { maxKeys: 4 }), fc.boolean(), fc.nat(3)).map(toObjectCase),
    fc.tuple(tie("any"), tie("any"), fc.constantFrom("anyOf", "oneOf")).map(toChoiceCase),
    tie("any").map(({ schema, value }) => ({ schema: { type: ["object", "string"], allOf: [schema, {}] }, value })),
  ),
}));

function toArrayCase(cases: readonly Case[]): Case {
  const items = cases.length === 0 ? true : { anyOf: cases.map(({ schema }) => schema) };
  return { schema: { type: "array", items }, value: cases.map(({ value }) => value) };
}

function toTupleCase(cases: readonly Case[]): Case {
  const prefixItems = cases.map(({ schema }) => schema);
  return { schema: { type: "array", prefixItems, items: false }, value: cases.map(({ value }) => value) };
}

function toObjectCase([members, isOpen, skipped]: [Record<string, Case>, boolean, number]): Case {
  const entries = Object.entries(members).filter(([name]) => name !== "__proto__");
  const given = entries.slice(skipped);
  const schema: JsonObject = {
    properties: Object.fromEntries(entries.map(([name, member]) => [name, member.schema])),
    required: given.map(([name]) => name),
    ...(isOpen && { additionalProperties: { type: "number" } }),
  };
  return { schema, value: Object.fromEntries(given.map(([name, member]) => [name, member.value])) };
}

function toChoiceCase([one, other, keyword]: [Case, Case, string]): Case {
  return { schema: { [keyword]: [one.schema, other.schema] }, value: one.value };
}

function toolOf(address: string, words: string, { schema }: Case): Tool {
  const plain = plainTool(address, { summary: words, description: words, output: schema });
  const input = { type: "object", properties: { [words]: schema }, description: words };
  return { ...plain, input, origin: { ...plain.origin, remoteName: words } };
}

const CREATE: Tool = {
  ...toolOf("demo.create", "Creates", { schema: {}, value: null }),
  input: { type: "object", properties: { title: { type: "string" }, size: { enum: [1, 2] } }, required: ["title"] },
  output: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
};

/** A million members after expansion: more than the compiler accepts. */
const WIDE: JsonSchema = {
  allOf: ["a", "b", "c"].map((name) => ({
    anyOf: Array.from({ length: 100 }, (_, at) => ({ properties: { [name]: { const: at } } })),
  })),
};

/** Every line after `@ts-expect-error` must be an error, or the compiler reports the directive. */
const PROGRAM = `export async function program(): Promise<number> {
  const made = await demo.create({ title: "a", size: 2 });
  await demo.tool0();
  // @ts-expect-error wrong tool
  await demo.crate({ title: "a" });
  // @ts-expect-error wrong field
  await demo.create({ title: "a", color: 1 });
  // @ts-expect-error missing field
  await demo.create({ size: 1 });
  // @ts-expect-error no arguments at all
  await demo.create();
  // @ts-expect-error wrong type
  await demo.create({ title: 1 });
  // @ts-expect-error wrong choice
  await demo.create({ title: "a", size: 3 });
  // @ts-expect-error wrong result
  const text: string = made.id;
  const error: unknown = input.whatever;
  if (error instanceof ToolError) return error.retry ? made.id : text.length;
  return made.id;
}
`;

it("declares types that compile and accept what their schemas accept", () => {
  const cases = fc.sample(any, { numRuns: 600, seed: SEED });
  const words = fc.sample(hostile, { numRuns: cases.length, seed: SEED });
  const typed = cases.map(
    ({ schema, value }, at) => `const v${at}: ${schemaToType(schema)} = ${JSON.stringify(value)};`,
  );
  const tools = cases.slice(0, 100).map((one, at) => toolOf(`demo.tool${at}`, words[at] ?? "", one));
  const named = ["new", "delete", "get", "set", "import", "static", "readonly"];
  const all = [...tools, ...named.map((name) => toolOf(`demo.${name}`, name, { schema: {}, value: null })), CREATE];
  const full = tools.map((tool, at) =>
    declareTool({ ...tool, address: known(parseToolAddress(`ns${at}.it`)) }, "full"),
  );
  const brief = all.map((tool) => declareTool(tool, "brief"));
  const output = compile({
    "values.ts": `${typed.join("\n")}\ntype Wide = ${schemaToType(WIDE)};`,
    "api.d.ts": declareApi(snapshotOf("1", all)).declarations,
    "full.d.ts": full.join("\n"),
    "brief.ts": `${brief.join("\n")}\nexport {};`,
    "program.ts": PROGRAM,
  });
  assert.equal(output, "", `seed ${SEED}`);
});

it("detects a declaration that does not compile", () => {
  assert.match(compile({ "values.ts": "const v0: { = 1;" }), /values\.ts\(1,13\): error TS1131/);
});
