/** Learning from calls: what is stored, shown, counted and recorded, and that it cannot fail a call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId, parseDigest, parsePrincipalId, parseToolAddress } from "../../domain/index.ts";
import type { CatalogSnapshot, Json, JsonObject, JsonSchema, Principal, Tool } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import type { Store } from "../../store/index.ts";
import { openShapes } from "./open-shapes.ts";
import type { Drift, Shapes } from "./open-shapes.ts";

function known<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

const digest = (digit: string) => known(parseDigest(`sha256:${digit.repeat(64)}`));
const TOOL: Tool = {
  address: known(parseToolAddress("demo.list")),
  origin: { kind: "upstream", connector: known(parseConnectorId("demo")), remoteName: "list" },
  summary: "",
  description: "",
  input: { type: "object" },
  output: null,
  effect: "read",
  digest: digest("1"),
};

const idOf = (text: string) => known(parsePrincipalId(text));
const ADA: Pick<Principal, "id" | "person"> = { id: idOf("person:ada") };

interface Ear {
  readonly store: Store;
  readonly shapes: Shapes;
  readonly drifts: Drift[];
}

async function withShapes(use: (ear: Ear) => Promise<void>): Promise<void> {
  await using store = await openStore({ path: ":memory:", now: () => 5 });
  const drifts: Drift[] = [];
  const record = async (drift: Drift) => drifts.push(drift);
  await using shapes = await openShapes({ store, now: () => 5, record });
  await use({ store, shapes, drifts });
}

/** Observes values one by one, each learned before the next. */
async function observe(shapes: Shapes, values: readonly Json[], tool = TOOL, args: JsonObject = {}): Promise<void> {
  for (const value of values) {
    shapes.observe(ADA, tool, args, value);
    await shapes.settle();
  }
}

function snapshotOf(tool: Tool): CatalogSnapshot {
  return { digest: digest("a"), takenAt: 0, tools: new Map([[tool.address, tool]]), namespaces: [] };
}

const find = (shapes: Shapes, tool = TOOL, viewer = ADA): JsonSchema | undefined =>
  shapes.addTo(snapshotOf(tool), viewer).tools.get(tool.address)?.learned;

describe("a learned shape", () => {
  it("states the number of results it was learned from", () =>
    withShapes(async ({ shapes }) => {
      assert.equal(find(shapes), undefined);
      await observe(shapes, ["a"]);
      assert.deepEqual(find(shapes), { type: ["string"], description: "learned from 1 result" });
      await observe(shapes, ["b"]);
      assert.deepEqual(find(shapes), { type: ["string"], description: "learned from 2 results" });
    }));
  it("a learned shape is neither stored nor shown for a tool with private or untrusted results", () =>
    withShapes(async ({ store, shapes }) => {
      for (const label of ["private", "untrusted"] as const) {
        await observe(shapes, [{ id: 1 }], { ...TOOL, labels: [label] });
        assert.deepEqual([find(shapes), await store.shapes.list()], [undefined, []]);
      }
      const labeled: Tool = { ...TOOL, labels: ["external"] };
      await observe(shapes, [{ id: 1 }], labeled);
      assert.equal(find(shapes, labeled)?.["description"], "learned from 1 result");
      // What was learned before the tool got its label is not shown any more.
      assert.equal(find(shapes, { ...TOOL, labels: ["private", "external"] }), undefined);
    }));
  it("a learned shape is shown to the agents of one person, and to no one else, also in the next session", () =>
    withShapes(async ({ store, shapes }) => {
      const agentOf = (name: string) => ({ id: idOf(`token:${name}`), person: ADA.id });
      const [own, other] = [agentOf("one"), agentOf("two")];
      shapes.observe(own, TOOL, {}, { salary: 1 });
      await shapes.settle();
      const bob = { id: idOf("agent:bob/cli"), person: idOf("person:bob") };
      await using later = await openShapes({ store, now: () => 6, record: async () => undefined });
      for (const one of [shapes, later]) {
        for (const viewer of [ADA, own, other]) assert.ok(JSON.stringify(find(one, TOOL, viewer)).includes("salary"));
        assert.equal(find(one, TOOL, bob), undefined);
      }
      shapes.observe(bob, TOOL, {}, "text");
      await shapes.settle();
      assert.deepEqual(find(shapes, TOOL, bob)?.["type"], ["string"]);
      assert.deepEqual(find(shapes)?.["type"], ["object"]);
    }));
  it("a learned shape is loaded again in the next session", () =>
    withShapes(async ({ store, shapes }) => {
      await observe(shapes, [{ id: 1 }]);
      await using later = await openShapes({ store, now: () => 6, record: async () => undefined });
      assert.deepEqual(find(later), find(shapes));
      await observe(later, [{ id: "x" }]);
      assert.deepEqual(find(later), {
        type: ["object"],
        properties: { id: { type: ["number", "string"] } },
        required: ["id"],
        description: "learned from 2 results",
      });
    }));
  it("a learned shape is dropped when the tool's definition changes", () =>
    withShapes(async ({ shapes }) => {
      const changed = { ...TOOL, digest: digest("2") };
      await observe(shapes, ["a", "b"]);
      assert.equal(find(shapes, changed), undefined);
      await observe(shapes, [1], changed);
      assert.deepEqual(find(shapes, changed), { type: ["number"], description: "learned from 1 result" });
      assert.equal(find(shapes), undefined);
    }));
  it("a learned shape is not learned if the server declares an output schema", () =>
    withShapes(async ({ store, shapes }) => {
      await observe(shapes, ["a"], { ...TOOL, output: { type: "string" } });
      assert.deepEqual(await store.shapes.list(), []);
    }));
  it("changes the snapshot only if there is something new to show", () =>
    withShapes(async ({ shapes }) => {
      const plain = snapshotOf(TOOL);
      const seen = new Set<CatalogSnapshot>();
      const sizes: number[] = [];
      for (let n = 1; n <= 9; n += 1) {
        await observe(shapes, [{ n }]);
        sizes.push(seen.add(shapes.addTo(plain, ADA)).size);
      }
      assert.deepEqual(sizes, [1, 2, 2, 3, 3, 3, 3, 4, 4]);
      await observe(shapes, [{ n: null }]);
      assert.equal(seen.add(shapes.addTo(plain, ADA)).size, 5);
      assert.ok([...seen].every((snapshot) => snapshot.digest === plain.digest));
    }));
  it("a learned shape is learned again if the stored one is damaged", () =>
    withShapes(async ({ store }) => {
      const { connector, remoteName } = TOOL.origin;
      const row = { owner: ADA.id, connector, remoteName, definition: TOOL.digest, samples: 3, changedAt: 1 };
      for (const shape of ["{", '{"type":"string"}']) {
        await store.shapes.put({ ...row, shape });
        await using shapes = await openShapes({ store, now: () => 6, record: async () => undefined });
        assert.equal(find(shapes), undefined);
      }
    }));
});

describe("a drift", () => {
  const drift = (samples: number): Drift => ({
    actor: "gateway",
    action: "shape.drifted",
    subject: "demo.list",
    detail: { definition: TOOL.digest, samples },
  });

  it("a drift is recorded once per change when a result differs from five earlier ones", () =>
    withShapes(async ({ shapes, drifts }) => {
      await observe(shapes, [1, 2, 3, 4, 5, "six", "seven", null, "nine"]);
      assert.deepEqual(drifts, [drift(6), drift(8)]);
    }));
  it("a drift is not recorded during the first five results", () =>
    withShapes(async ({ shapes, drifts }) => {
      await observe(shapes, [1, 2, 3, 4, "five"]);
      assert.deepEqual(drifts, []);
    }));
  it("a drift does not stop learning if it cannot be recorded", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 5 });
    const record = async (): Promise<never> => Promise.reject(new Error("full"));
    await using shapes = await openShapes({ store, now: () => 5, record });
    await observe(shapes, [1, 2, 3, 4, 5, "six"]);
    assert.deepEqual(find(shapes), { type: ["number", "string"], description: "learned from 6 results" });
  });
});

describe("a tool whose results depend on its arguments", () => {
  const rows = (...fields: readonly string[]): Json => [Object.fromEntries(fields.map((field) => [field, 1]))];
  const learnedFrom = (...results: readonly (readonly [sql: string, value: Json])[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      withShapes(async ({ shapes }) => {
        for (const [sql, value] of results) await observe(shapes, [value], TOOL, { sql });
        resolve(find(shapes)?.["description"]);
      }).catch(reject);
    });
  it("has no learned type, and never has one again", async () => {
    assert.equal(await learnedFrom(["a", rows("product", "revenue")], ["b", rows("product", "date")]), undefined);
    assert.equal(await learnedFrom(["a", rows("x", "y")], ["b", rows("z", "w")], ["a", rows("x", "y")]), undefined);
    assert.equal(await learnedFrom(["a", { list: rows("x", "y") }], ["b", { list: rows("z", "w") }]), undefined);
    assert.equal(await learnedFrom(["a", rows("x")], ["b", "text"]), undefined);
    assert.equal(await learnedFrom(["a", { rows: [1] }], ["b", { total: 5, items: [1] }]), undefined);
  });
  it("stays without one after a restart", () =>
    withShapes(async ({ shapes, store, drifts }) => {
      await observe(shapes, [rows("x", "y")], TOOL, { sql: "a" });
      await observe(shapes, [rows("z", "w")], TOOL, { sql: "b" });
      const record = async (drift: (typeof drifts)[number]): Promise<unknown> => drifts.push(drift);
      await using later = await openShapes({ store, now: () => 6, record });
      await observe(later, [rows("x", "y")], TOOL, { sql: "a" });
      assert.equal(find(later), undefined);
    }));
  it("has one if the results share most fields, differ for equal arguments, or are empty", async () => {
    const two = "learned from 2 results";
    assert.equal(await learnedFrom(["a", rows("x", "y", "z")], ["b", rows("x", "y", "w")]), two);
    assert.equal(await learnedFrom(["a", rows("x", "y")], ["b", []]), two);
    assert.equal(await learnedFrom(["a", { rows: [1] }], ["b", { rows: [2], next: 1 }]), two);
    assert.equal(await learnedFrom(["a", { rows: [1] }], ["b", {}]), two);
    assert.equal(await learnedFrom(["a", rows("x", "y")], ["b", null]), two);
    assert.equal(await learnedFrom(["a", rows("x", "y")], ["a", rows("z", "w")]), two);
    assert.equal(await learnedFrom(["a", { n: 1, s: "a" }], ["b", { n: "1", s: "b" }]), two);
  });
});

describe("learning", () => {
  it("queues eight results and ignores further ones", () =>
    withShapes(async ({ shapes }) => {
      for (let n = 0; n < 100; n += 1) shapes.observe(ADA, TOOL, { n }, n);
      await shapes.settle();
      assert.equal(find(shapes)?.["description"], "learned from 8 results");
    }));
  it("uses every 16th result once the shape is stable", () =>
    withShapes(async ({ store, shapes }) => {
      await observe(
        shapes,
        Array.from({ length: 21 + 16 * 11 }, (_, n) => n),
      );
      assert.equal((await store.shapes.list())[0]?.samples, 32);
      await observe(
        shapes,
        Array.from({ length: 16 }, () => "other"),
      );
      assert.deepEqual(find(shapes)?.["type"], ["number", "string"]);
    }));
  it("continues to learn without the store", async () => {
    const store = await openStore({ path: ":memory:", now: () => 5 });
    await store.close();
    await using shapes = await openShapes({ store, now: () => 5, record: async () => undefined });
    await observe(shapes, ["a"]);
    assert.deepEqual(find(shapes), { type: ["string"], description: "learned from 1 result" });
  });
});
