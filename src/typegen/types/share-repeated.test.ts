/** Types that several tools repeat are declared once; the description stays valid TypeScript with the same types. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { JsonSchema, Tool } from "../../domain/index.ts";
import { describeTools } from "../describe-tools.ts";
import { declareTool } from "../declare-tool.ts";
import { compile, snapshotOf, toolOf } from "../fixtures/compile.ts";
import { REAL_WORLD } from "../fixtures/real-world.ts";
import { shareRepeated } from "./share-repeated.ts";

const OPTIONS = { detail: "types", findNearest: () => [], explainEmpty: () => "" } as const;
const object = (properties: JsonSchema, required = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
});
const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const text = (description: string): JsonSchema => ({ type: "string", description });

/** The tools of server-memory, whose schemas repeat entities and relations without references. */
function createMemoryTools(): readonly Tool[] {
  const entity = object({
    name: text("The name of the entity"),
    entityType: text("The type of the entity"),
    observations: { ...list({ type: "string" }), description: "An array of observation contents" },
  });
  const relation = object({
    from: text("The name of the entity where the relation starts"),
    to: text("The name of the entity where the relation ends"),
    relationType: text("The type of the relation"),
  });
  const graph = object({ entities: list(entity), relations: list(relation) });
  const done = object({ success: { type: "boolean" }, message: { type: "string" } });
  const tool = (name: string, input: JsonSchema, output: JsonSchema): Tool =>
    toolOf(`memory.${name}`, { input, output });
  return [
    tool("createEntities", object({ entities: list(entity) }), object({ entities: list(entity) })),
    tool("createRelations", object({ relations: list(relation) }), object({ relations: list(relation) })),
    tool("deleteEntities", object({ entityNames: list({ type: "string" }) }), done),
    tool("deleteRelations", object({ relations: list(relation) }), done),
    tool("readGraph", { type: "object" }, graph),
    tool("searchNodes", object({ query: text("What to look for") }), graph),
    tool("openNodes", object({ names: list({ type: "string" }) }), graph),
  ];
}

/** An API as OpenAPI documents describe it: every operation carries the definitions that it reaches. */
function createApiTools(): readonly Tool[] {
  const address = object({ street: { type: "string" }, city: { type: "string" }, country: text("ISO code") });
  const customer = object({ id: { type: "string" }, email: { type: "string" }, address: { $ref: "#/$defs/Address" } });
  const order = object({
    id: { type: "string" },
    customer: { $ref: "#/$defs/Customer" },
    lines: list(object({ sku: { type: "string" }, quantity: { type: "integer" }, priceCents: { type: "integer" } })),
    status: { enum: ["pending", "shipped", "delivered", "cancelled"] },
  });
  const $defs = { Address: address, Customer: customer, Order: order };
  const of = (ref: string): JsonSchema => ({ $ref: `#/$defs/${ref}`, $defs });
  const id = object({ id: { type: "string" } });
  const tool = (name: string, input: JsonSchema, output: JsonSchema): Tool => toolOf(`shop.${name}`, { input, output });
  return [
    tool("listOrders", object({ status: { type: "string" } }, []), { ...list({ $ref: "#/$defs/Order" }), $defs }),
    tool("getOrder", id, of("Order")),
    tool("createOrder", { ...object({ body: { $ref: "#/$defs/Order" } }), $defs }, of("Order")),
    tool("cancelOrder", id, of("Order")),
    tool("listCustomers", object({ page: { type: "integer" } }, []), { ...list({ $ref: "#/$defs/Customer" }), $defs }),
    tool("getCustomer", id, of("Customer")),
  ];
}

function describeAll(tools: readonly Tool[]): { readonly shared: string; readonly apart: string } {
  const names = [...new Set(tools.map(({ address }) => address.slice(0, address.indexOf("."))))];
  const shared = describeTools(snapshotOf("5", tools), names, OPTIONS).declarations;
  return { shared, apart: tools.map((tool) => declareTool(tool, "types")).join("\n") };
}

describe("the description of several tools", () => {
  it("names the objects that tools without references repeat, and saves at least 40 %", () => {
    const { shared, apart } = describeAll(createMemoryTools());
    assert.equal(shared.split("The name of the entity where the relation starts").length, 2);
    assert.match(
      shared,
      /createEntities\(args: \{ entities: memory\.Entity\[\]; \}\): Promise<\{ entities: memory\.Entity\[\]; \}>/,
    );
    assert.ok(shared.length <= 0.6 * apart.length, `${shared.length} of ${apart.length} characters`);
  });
  it("names the definitions that tools of a document share, and saves at least 30 %", () => {
    const { shared, apart } = describeAll(createApiTools());
    assert.match(shared, /getOrder\(args: \{ id: string; \}\): Promise<shop\.Order>;/);
    assert.match(shared, /listOrders\(args\?: \{ status\?: string; \}\): Promise<shop\.Order\[\]>;/);
    assert.equal(shared.split("type Address").length, 2);
    assert.ok(shared.length <= 0.7 * apart.length, `${shared.length} of ${apart.length} characters`);
  });
  it("compiles, and accepts and refuses what the tools accept and refuse", () => {
    const real = Object.entries(REAL_WORLD).map(([name, { schema }]) =>
      toolOf(`real.${name}`, { input: schema, output: schema }),
    );
    const all = [...createMemoryTools(), ...createApiTools(), ...real];
    const use = `import "./api.js";
const graph = await memory.readGraph();
const first: string | undefined = graph.entities[0]?.observations[0];
await memory.createRelations({ relations: [{ from: "a", to: "b", relationType: "c" }] });
const order = await shop.getOrder({ id: "1" });
const country: string = order.customer.address.country;
export { first, country };`;
    assert.equal(compile({ "api.d.ts": describeAll(all).shared, "use.ts": use }), "");
    const wrong = use.replace('to: "b", ', "").replace("country: string", "country: number");
    assert.equal(compile({ "api.d.ts": describeAll(all).shared, "use.ts": wrong }).match(/error TS/g)?.length, 2);
  });
});

describe("shared types", () => {
  const LONG = "{\n    name: string;\n    description: string;\n    createdAt: string;\n    owner: string;\n  }";
  const share = (members: readonly string[], types: ReadonlyMap<string, string> = new Map()) =>
    shareRepeated(members, types, "ns");

  it("are named after the property, in the singular for an entry of an array", () => {
    const { types, members } = share([
      `  a(args: { items: Array<${LONG}> }): Promise<any>;`,
      `  b(args: ${LONG}): Promise<any>;`,
    ]);
    assert.deepEqual([...types.keys()], ["Item"]);
    assert.match(members[1] ?? "", /b\(args: ns\.Item\)/);
  });
  it("get another name where the name is taken", () => {
    const taken = new Map([["Item", "string"]]);
    const { types } = share(
      [`  a(args: { item: ${LONG} }): Promise<any>;`, `  b(args: ${LONG}): Promise<any>;`],
      taken,
    );
    assert.deepEqual([...types.keys()], ["Item", "Item2"]);
  });
  it("keep objects apart whose comments differ, and give an object without comments those of another", () => {
    const commented = (comment: string): string => LONG.replace("name:", `/** ${comment} */ name:`);
    const one = share([`  a(args: ${commented("x")}): Promise<any>;`, `  b(args: ${commented("y")}): Promise<any>;`]);
    assert.equal(one.types.size, 0);
    const two = share([`  a(args: ${commented("x")}): Promise<any>;`, `  b(args: ${LONG}): Promise<any>;`]);
    assert.match([...two.types.values()].join(""), /\/\*\* x \*\/ name/);
  });
  it("are not found in comments and strings", () => {
    const hostile = `  /** { a: string; } and "{ */\n  a(args: { kind: "{" | "}" | "\\"{"; }): Promise<any>;`;
    assert.deepEqual(share([hostile, hostile]).members, [hostile, hostile]);
  });
  it("leave short and single objects where they are", () => {
    const short = "  a(args: { id: string; }): Promise<any>;";
    assert.deepEqual(share([short, short]).types.size, 0);
    assert.deepEqual(share([`  a(args: ${LONG}): Promise<any>;`]).types.size, 0);
  });
});
