/** The conformance suite of `Store["executions"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseDigest, parsePrincipalId } from "../domain/index.ts";

import type { ExecutionEnding } from "./executions.ts";
import { sampleOpening } from "./fixtures/sample-opening.ts";
import { SAMPLE_SEAL } from "./fixtures/sample-seal.ts";
import type { Store } from "./store.ts";

const ENDING: ExecutionEnding = { endedAt: 9, state: "completed", result: '{"value":1}' };

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

function ids(found: readonly { readonly id: string }[]): readonly string[] {
  return found.map(({ id }) => id);
}

function expected(...numbers: readonly number[]): readonly string[] {
  return numbers.map((n) => sampleOpening(n).id);
}

export function describeExecutions(open: () => Promise<Store>): void {
  void test("find returns an opened execution and nothing else", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    assert.deepEqual(await store.executions.find(sampleOpening(1).id), { ...sampleOpening(1), ending: null });
    assert.equal(await store.executions.find(sampleOpening(2).id), undefined);
  });

  void test("close stores a result or an error code", async () => {
    await using store = await open();
    const failed: ExecutionEnding = { endedAt: 8, state: "failed", errorCode: "LIMIT_TIME", result: "{}" };
    await store.executions.open(sampleOpening(1));
    await store.executions.open(sampleOpening(2));
    await store.executions.close(sampleOpening(1).id, ENDING);
    await store.executions.close(sampleOpening(2).id, failed);
    assert.deepEqual(await store.executions.find(sampleOpening(1).id), { ...sampleOpening(1), ending: ENDING });
    assert.deepEqual(await store.executions.find(sampleOpening(2).id), { ...sampleOpening(2), ending: failed });
  });

  void test("open rejects a second execution with the same id and keeps the first", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    const again = { ...sampleOpening(1), sourceText: "other" };
    await assert.rejects(store.executions.open(again), { code: "REQUEST_CONFLICT" });
    assert.deepEqual(await store.executions.find(again.id), { ...sampleOpening(1), ending: null });
  });

  void test("close accepts a suspended execution and rejects an ended one", async () => {
    await using store = await open();
    const { id } = sampleOpening(1);
    await store.executions.open(sampleOpening(1));
    await store.executions.close(id, { ...ENDING, state: "paused" });
    await store.executions.close(id, ENDING);
    await assert.rejects(store.executions.close(id, { ...ENDING, state: "failed" }), { code: "REQUEST_CONFLICT" });
    assert.deepEqual((await store.executions.find(id))?.ending, ENDING);
  });

  void test("claim gives a suspended or open execution to the first process that knows its state", async () => {
    await using store = await open();
    const { id } = sampleOpening(1);
    await store.executions.open({ ...sampleOpening(1), owner: "a" });
    const take = (was: "paused" | "open", from: string, by = "b") => store.executions.claim(id, { was, from, by });
    assert.deepEqual(
      [await take("paused", "a"), await take("open", "x"), await take("open", "a")],
      [false, false, true],
    );
    assert.equal(await take("open", "a"), false);
    await store.executions.close(id, { ...ENDING, state: "paused" });
    assert.deepEqual([await take("open", "b"), await take("paused", "a")], [false, false]);
    assert.deepEqual(await Promise.all([take("paused", "b"), take("paused", "b")]), [true, false]);
    assert.deepEqual(await store.executions.find(id), { ...sampleOpening(1), owner: "b", ending: null });
    await store.executions.close(id, ENDING);
    assert.deepEqual([await take("open", "b"), await take("paused", "b")], [false, false]);
  });

  void test("close rejects an unknown execution", async () => {
    await using store = await open();
    await assert.rejects(store.executions.close(sampleOpening(1).id, ENDING), { code: "REQUEST_NOT_FOUND" });
  });
}

/** Retention. */
export function describeRetention(open: () => Promise<Store>): void {
  const piece = (n: number) => ({ execution: sampleOpening(n).id, piece: 0, sealed: new Uint8Array(1) });
  const key = { key: "k", request: certain(parseDigest(`sha256:${"a".repeat(64)}`)) };
  const bytesOf = (n: number): number =>
    Buffer.byteLength(sampleOpening(n).sourceText) +
    SAMPLE_SEAL.close(ENDING.result, `execution:${sampleOpening(n).id}:result`).byteLength;

  void test("drop removes executions that ended before a time, with journals and keys, and keeps running ones", async () => {
    await using store = await open();
    const { executions, journals } = store;
    await executions.openOnce(sampleOpening(1), key);
    for (const n of [2, 3, 4]) await executions.open(sampleOpening(n));
    for (const n of [1, 2, 3, 4]) await journals.append(() => [piece(n)]);
    for (const n of [1, 2]) await executions.close(sampleOpening(n).id, { ...ENDING, endedAt: n * 10 });
    await executions.close(sampleOpening(3).id, { ...ENDING, endedAt: 1, state: "paused" });
    const left = async () => ids(await executions.list({ limit: 9 })).toSorted();
    assert.equal(await executions.drop({ endedBefore: 10, totalBytes: 1_000_000 }), 0);
    assert.ok(await executions.findHolder(sampleOpening(1).principal, "k"));
    assert.equal(await executions.drop({ endedBefore: 11, totalBytes: 1_000_000 }), 1);
    assert.deepEqual(await left(), expected(2, 3, 4));
    assert.deepEqual(await journals.read(sampleOpening(1).id), []);
    assert.equal(await executions.findHolder(sampleOpening(1).principal, "k"), undefined);
    assert.equal(await executions.drop({ endedBefore: 1_000_000, totalBytes: 0 }), 1);
    assert.deepEqual(await left(), expected(3, 4), "one is paused, one runs");
    assert.deepEqual(await journals.read(sampleOpening(4).id), [piece(4)]);
  });

  void test("drop removes the oldest ended executions above the total size", async () => {
    await using store = await open();
    const { executions } = store;
    for (const n of [1, 2, 3]) {
      await executions.open(sampleOpening(n));
      await executions.close(sampleOpening(n).id, { ...ENDING, endedAt: n * 10 });
    }
    const total = bytesOf(1) + bytesOf(2) + bytesOf(3);
    assert.equal(await executions.drop({ endedBefore: 0, totalBytes: total + 1 }), 0);
    assert.equal(await executions.drop({ endedBefore: 0, totalBytes: total }), 0);
    assert.equal(await executions.drop({ endedBefore: 0, totalBytes: total - 1 }), 1);
    assert.deepEqual(ids(await executions.list({ limit: 9 })), expected(3, 2));
  });
}

/** Idempotency keys. */
export function describeKeys(open: () => Promise<Store>): void {
  const key = (request: string, insteadOf?: number) => ({
    key: "k",
    request: certain(parseDigest(`sha256:${request.repeat(64)}`)),
    ...(insteadOf !== undefined && { insteadOf: sampleOpening(insteadOf).id }),
  });

  void test("openOnce opens the first execution with a key and returns it for later ones", async () => {
    await using store = await open();
    const first = { ...sampleOpening(1), owner: "a process" };
    const claims = [first, sampleOpening(2), sampleOpening(3)].map((one, index) =>
      store.executions.openOnce(one, key(index < 2 ? "a" : "b")),
    );
    const holder = { execution: first.id, request: key("a").request };
    assert.deepEqual(await Promise.all(claims), [undefined, holder, holder]);
    assert.deepEqual(await store.executions.findHolder(first.principal, "k"), holder);
    assert.equal(await store.executions.findHolder(first.principal, "other"), undefined);
    assert.deepEqual(await store.executions.find(first.id), { ...first, ending: null });
    assert.equal(await store.executions.find(sampleOpening(2).id), undefined);
  });

  void test("openOnce separates the keys of different principals", async () => {
    await using store = await open();
    const other = { ...sampleOpening(2), principal: certain(parsePrincipalId("other")) };
    assert.equal(await store.executions.openOnce(sampleOpening(1), key("a")), undefined);
    assert.equal(await store.executions.openOnce(other, key("a")), undefined);
  });

  void test("openOnce replaces the holder of a key once", async () => {
    await using store = await open();
    await store.executions.openOnce(sampleOpening(1), key("a"));
    assert.equal(await store.executions.openOnce(sampleOpening(2), key("a", 1)), undefined);
    const holder = { execution: sampleOpening(2).id, request: key("a").request };
    assert.deepEqual(await store.executions.openOnce(sampleOpening(3), key("a", 1)), holder);
    assert.deepEqual(await store.executions.openOnce(sampleOpening(3), key("b", 2)), holder);
  });
}

/** Lists. */
export function describeLists(open: () => Promise<Store>): void {
  void test("list returns pages, newest first, without gaps at equal times", async () => {
    await using store = await open();
    for (const n of [1, 2, 3, 4]) await store.executions.open(sampleOpening(n, n === 4 ? 99 : 50));
    const first = await store.executions.list({ limit: 2 });
    const second = await store.executions.list({ limit: 2, before: sampleOpening(3).id });
    const third = await store.executions.list({ limit: 2, before: sampleOpening(1).id });
    assert.deepEqual([ids(first), ids(second), ids(third)], [expected(4, 3), expected(2, 1), []]);
    assert.deepEqual(await store.executions.list({ limit: 2, before: sampleOpening(7).id }), []);
  });

  void test("list returns outcomes without source and result", async () => {
    await using store = await open();
    const { id, principal, source, startedAt } = sampleOpening(1);
    await store.executions.open(sampleOpening(1));
    await store.executions.close(id, ENDING);
    const ending = { endedAt: ENDING.endedAt, state: ENDING.state };
    const { sourceText } = sampleOpening(1);
    const summary = { id, principal, source, startedAt, ending };
    assert.deepEqual(await store.executions.list({ limit: 9 }), [{ ...summary, head: sourceText, tools: [] }]);
    assert.deepEqual(await store.executions.findHead(id), { id, principal, source, startedAt, sourceText, ending });
    assert.equal(await store.executions.findHead(sampleOpening(2).id), undefined);
  });

  void test("list finds a string in sources, tool names and error codes, and not in results", async () => {
    await using store = await open();
    for (const n of [1, 2, 3]) await store.executions.open(sampleOpening(n));
    const [first, , third] = expected(1, 2, 3);
    const failed = { ...ENDING, state: "failed", errorCode: "PROGRAM_THREW", result: "in the result" } as const;
    await store.executions.close(sampleOpening(1).id, failed);
    await store.executions.close(sampleOpening(3).id, { ...ENDING, tools: ["files.read"] });
    const search = async (text: string, more = {}) =>
      ids(await store.executions.list({ limit: 9, search: text, ...more }));
    assert.deepEqual(await search("RETURN 2"), expected(2));
    assert.deepEqual(await search("return"), expected(3, 2, 1));
    assert.deepEqual(await search("return", { before: third, state: "running" }), expected(2));
    assert.deepEqual(await search("files.Read"), [third]);
    assert.deepEqual(await search("threw"), [first]);
    for (const text of ["in the result", "%", "call.intended"]) assert.deepEqual(await search(text), [], text);
  });
}

/** Filters of lists. */
export function describeFilters(open: () => Promise<Store>): void {
  void test("list finds executions by principal, time, tool and namespace, and lists their tools", async () => {
    await using store = await open();
    const ada = parsePrincipalId("person:ada");
    assert.ok(ada);
    await store.executions.open({ ...sampleOpening(1), principal: ada });
    for (const n of [2, 3, 4]) await store.executions.open(sampleOpening(n));
    await store.executions.close(sampleOpening(1).id, { ...ENDING, tools: ["shop.pay", "shop.list"] });
    await store.executions.close(sampleOpening(2).id, { ...ENDING, state: "paused", tools: ["shop.list"] });
    await store.executions.close(sampleOpening(2).id, { ...ENDING, tools: ["shop.list", "mail.send"] });
    await store.executions.close(sampleOpening(3).id, { ...ENDING, tools: ["shopping.list"] });
    const find = async (query: object) => ids(await store.executions.list({ limit: 9, ...query }));
    assert.deepEqual(await find({ principal: "person:ada" }), expected(1));
    assert.deepEqual(await find({ since: 2, until: 3 }), expected(3, 2));
    assert.deepEqual(await find({ tool: "shop.list" }), expected(2, 1));
    assert.deepEqual(await find({ tool: "shop" }), []);
    assert.deepEqual(await find({ namespace: "shop" }), expected(2, 1));
    assert.deepEqual(await find({ namespace: "shop", principal: "local" }), expected(2));
    const [, , second] = await store.executions.list({ limit: 9 });
    assert.deepEqual(second?.tools, ["mail.send", "shop.list"]);
    await store.executions.drop({ endedBefore: Number.MAX_SAFE_INTEGER, totalBytes: 0 });
    assert.deepEqual(await find({ namespace: "shop" }), []);
  });

  void test("list looks no further than an execution, and skip finds it", async () => {
    await using store = await open();
    for (const n of [1, 2, 3, 4]) await store.executions.open(sampleOpening(n, n === 4 ? 99 : 50));
    const third = await store.executions.skip({ count: 1 });
    assert.equal(third, sampleOpening(3).id);
    assert.deepEqual(ids(await store.executions.list({ limit: 9, downTo: sampleOpening(3).id })), expected(4, 3));
    const before = sampleOpening(3).id;
    assert.equal(await store.executions.skip({ count: 1, before }), sampleOpening(1).id);
    assert.equal(await store.executions.skip({ count: 2, before }), undefined);
  });

  void test("listUnfinished returns the oldest first", async () => {
    await using store = await open();
    for (const n of [3, 1, 2, 4]) await store.executions.open(sampleOpening(n));
    await store.executions.close(sampleOpening(2).id, ENDING);
    await store.executions.close(sampleOpening(4).id, { ...ENDING, state: "paused" });
    assert.deepEqual(ids(await store.executions.listUnfinished()), expected(1, 3));
  });
}
