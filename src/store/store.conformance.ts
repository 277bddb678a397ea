/** What every store promises, whatever database is behind it. Called from a test of each implementation. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseConnectorId, parseDigest, parsePrincipalId } from "../domain/index.ts";

import { describeApprovals } from "./approvals.conformance.ts";
import { describeCancellations } from "./cancellations.conformance.ts";
import { sampleOpening } from "./fixtures/sample-opening.ts";
import { describeJournals } from "./journals.conformance.ts";
import { describeLabels } from "./labels.conformance.ts";
import { describeQuotas } from "./quotas.conformance.ts";
import { describeResults } from "./results.conformance.ts";
import { describeSecrets } from "./secrets.conformance.ts";
import type { ExecutionEnding } from "./executions.ts";
import type { HeldRow, PinRow, ShapeRow, Store, StoredRecord } from "./store.ts";

/** Makes an empty store; the suite closes it. */
export type OpenStore = () => Promise<Store>;

/** Runs the whole suite against one implementation. */
export function describeStore(name: string, open: OpenStore): void {
  void describe(`${name}: executions`, () => describeExecutions(open));
  void describe(`${name}: keys of requests`, () => describeKeys(open));
  void describe(`${name}: lists of executions`, () => describeLists(open));
  void describe(`${name}: journals`, () => describeJournals(open));
  void describe(`${name}: ledger`, () => describeLedger(open));
  void describe(`${name}: secrets`, () => describeSecrets(open));
  void describe(`${name}: pins`, () => describePins(open));
  void describe(`${name}: meta`, () => describeMeta(open));
  void describe(`${name}: shapes`, () => describeShapes(open));
  void describe(`${name}: results`, () => describeResults(open));
  void describe(`${name}: quotas`, () => describeQuotas(open));
  void describe(`${name}: labels`, () => describeLabels(open));
  void describe(`${name}: approvals`, () => describeApprovals(open));
  void describe(`${name}: cancellations`, () => describeCancellations(open));
}

/** The ledger record number `seq`; the store does not check the chain. */
export function sampleRecord(seq: number): StoredRecord {
  return {
    seq,
    at: 1_000 + seq,
    actor: "local",
    action: "call.intended",
    subject: "files.read",
    detail: `{"n":${seq}}`,
    previous: `p${seq}`,
    digest: `d${seq}`,
  };
}

const ENDING: ExecutionEnding = { endedAt: 9, state: "completed", result: '{"value":1}' };

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

function describeExecutions(open: OpenStore): void {
  void test("finds what was opened, and nothing else", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    assert.deepEqual(await store.executions.find(sampleOpening(1).id), { ...sampleOpening(1), ending: null });
    assert.equal(await store.executions.find(sampleOpening(2).id), undefined);
  });

  void test("closes with a result, and with an error code", async () => {
    await using store = await open();
    const failed: ExecutionEnding = { endedAt: 8, state: "failed", errorCode: "LIMIT_TIME", result: "{}" };
    await store.executions.open(sampleOpening(1));
    await store.executions.open(sampleOpening(2));
    await store.executions.close(sampleOpening(1).id, ENDING);
    await store.executions.close(sampleOpening(2).id, failed);
    assert.deepEqual(await store.executions.find(sampleOpening(1).id), { ...sampleOpening(1), ending: ENDING });
    assert.deepEqual(await store.executions.find(sampleOpening(2).id), { ...sampleOpening(2), ending: failed });
  });

  void test("refuses an id twice and keeps the first", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    const again = { ...sampleOpening(1), sourceText: "other" };
    await assert.rejects(store.executions.open(again), { code: "REQUEST_CONFLICT" });
    assert.deepEqual(await store.executions.find(again.id), { ...sampleOpening(1), ending: null });
  });

  void test("closes a paused one again, but never one that has ended", async () => {
    await using store = await open();
    const { id } = sampleOpening(1);
    await store.executions.open(sampleOpening(1));
    await store.executions.close(id, { ...ENDING, state: "paused" });
    await store.executions.close(id, ENDING);
    await assert.rejects(store.executions.close(id, { ...ENDING, state: "failed" }), { code: "REQUEST_CONFLICT" });
    assert.deepEqual((await store.executions.find(id))?.ending, ENDING);
  });

  void test("hands a paused one, or one that was left open, to the first who asks as it stands", async () => {
    await using store = await open();
    const { id } = sampleOpening(1);
    await store.executions.open({ ...sampleOpening(1), owner: "a" });
    const take = (was: "paused" | "open", from: string, by = "b") => store.executions.adopt(id, { was, from, by });
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

  void test("cannot close one that was never opened", async () => {
    await using store = await open();
    await assert.rejects(store.executions.close(sampleOpening(1).id, ENDING), { code: "REQUEST_NOT_FOUND" });
  });
}

function ids(found: readonly { readonly id: string }[]): readonly string[] {
  return found.map(({ id }) => id);
}

function expected(...numbers: readonly number[]): readonly string[] {
  return numbers.map((n) => sampleOpening(n).id);
}

function describeKeys(open: OpenStore): void {
  const key = (request: string, insteadOf?: number) => ({
    key: "k",
    request: certain(parseDigest(`sha256:${request.repeat(64)}`)),
    ...(insteadOf !== undefined && { insteadOf: sampleOpening(insteadOf).id }),
  });

  void test("opens the first execution with a key, and names it to all others", async () => {
    await using store = await open();
    const first = { ...sampleOpening(1), owner: "a process" };
    const claims = [first, sampleOpening(2), sampleOpening(3)].map((one, index) =>
      store.executions.claim(one, key(index < 2 ? "a" : "b")),
    );
    const holder = { execution: first.id, request: key("a").request };
    assert.deepEqual(await Promise.all(claims), [undefined, holder, holder]);
    assert.deepEqual(await store.executions.find(first.id), { ...first, ending: null });
    assert.equal(await store.executions.find(sampleOpening(2).id), undefined);
  });

  void test("knows the same key of another principal apart", async () => {
    await using store = await open();
    const other = { ...sampleOpening(2), principal: certain(parsePrincipalId("other")) };
    assert.equal(await store.executions.claim(sampleOpening(1), key("a")), undefined);
    assert.equal(await store.executions.claim(other, key("a")), undefined);
  });

  void test("gives a key on once, instead of the very execution that held it", async () => {
    await using store = await open();
    await store.executions.claim(sampleOpening(1), key("a"));
    assert.equal(await store.executions.claim(sampleOpening(2), key("a", 1)), undefined);
    const holder = { execution: sampleOpening(2).id, request: key("a").request };
    assert.deepEqual(await store.executions.claim(sampleOpening(3), key("a", 1)), holder);
    assert.deepEqual(await store.executions.claim(sampleOpening(3), key("b", 2)), holder);
  });
}

function describeLists(open: OpenStore): void {
  void test("lists newest first, page by page, without a gap at equal times", async () => {
    await using store = await open();
    for (const n of [1, 2, 3, 4]) await store.executions.open(sampleOpening(n, n === 4 ? 99 : 50));
    const first = await store.executions.list({ limit: 2 });
    const second = await store.executions.list({ limit: 2, before: sampleOpening(3).id });
    const third = await store.executions.list({ limit: 2, before: sampleOpening(1).id });
    assert.deepEqual([ids(first), ids(second), ids(third)], [expected(4, 3), expected(2, 1), []]);
    assert.deepEqual(await store.executions.list({ limit: 2, before: sampleOpening(7).id }), []);
  });

  void test("lists outcomes without the texts", async () => {
    await using store = await open();
    const { id, principal, source, startedAt } = sampleOpening(1);
    await store.executions.open(sampleOpening(1));
    await store.executions.close(id, ENDING);
    const ending = { endedAt: ENDING.endedAt, state: ENDING.state };
    assert.deepEqual(await store.executions.list({ limit: 9 }), [{ id, principal, source, startedAt, ending }]);
  });

  void test("lists the unfinished ones, oldest first", async () => {
    await using store = await open();
    for (const n of [3, 1, 2, 4]) await store.executions.open(sampleOpening(n));
    await store.executions.close(sampleOpening(2).id, ENDING);
    await store.executions.close(sampleOpening(4).id, { ...ENDING, state: "paused" });
    assert.deepEqual(ids(await store.executions.listUnfinished()), expected(1, 3));
  });
}

function describeLedger(open: OpenStore): void {
  void test("reads back what was appended, in order and in parts", async () => {
    await using store = await open();
    assert.equal(await store.ledger.last(), undefined);
    assert.equal(await store.ledger.append([1, 2].map(sampleRecord)), "appended");
    assert.equal(await store.ledger.append([sampleRecord(3)]), "appended");
    assert.deepEqual(await store.ledger.last(), sampleRecord(3));
    assert.deepEqual(await store.ledger.read({ from: 1, limit: 10 }), [1, 2, 3].map(sampleRecord));
    assert.deepEqual(await store.ledger.read({ from: 2, limit: 1 }), [sampleRecord(2)]);
    assert.deepEqual(await store.ledger.read({ from: 4, limit: 1 }), []);
  });

  void test("appends all of a batch or nothing when a number is taken", async () => {
    await using store = await open();
    await store.ledger.append([sampleRecord(2)]);
    assert.equal(await store.ledger.append([1, 2].map(sampleRecord)), "taken");
    assert.deepEqual(await store.ledger.read({ from: 0, limit: 10 }), [sampleRecord(2)]);
    assert.equal(await store.ledger.append([3, 4].map(sampleRecord)), "appended");
  });

  void test("keeps any text as it is", async () => {
    await using store = await open();
    const record = { ...sampleRecord(1), subject: "a\u0000b\u2028'\"", detail: '"🧤\\ud800"' };
    await store.ledger.append([record]);
    assert.deepEqual(await store.ledger.last(), record);
  });
}

function sampleHeld(server: string, remoteName: string, digit = "a"): HeldRow {
  const digest = certain(parseDigest(`sha256:${digit.repeat(64)}`));
  const connector = certain(parseConnectorId(server));
  return { connector, remoteName, digest, definition: `{"name":"${digit}"}`, seenAt: 7 };
}

function samplePin(server: string, remoteName: string, digit = "a"): PinRow {
  const { seenAt: pinnedAt, ...rest } = sampleHeld(server, remoteName, digit);
  return { ...rest, pinnedAt, pinnedBy: "gateway" };
}

function describePins(open: OpenStore): void {
  void test("lets the first claim of a definition win, for each server by itself", async () => {
    await using store = await open();
    await store.pins.claim([samplePin("a", "x"), samplePin("a", "__proto__")]);
    await store.pins.claim([samplePin("a", "x", "b"), samplePin("b", "x", "b")]);
    assert.deepEqual(await store.pins.find(samplePin("a", "x").connector, "x"), samplePin("a", "x"));
    assert.deepEqual(
      await store.pins.digests(samplePin("a", "x").connector),
      new Map(["__proto__", "x"].map((name) => [name, samplePin("a", name).digest])),
    );
    assert.equal(await store.pins.find(samplePin("c", "x").connector, "x"), undefined);
  });

  void test("replaces what is held of one server and leaves the others", async () => {
    await using store = await open();
    const [a, b] = [sampleHeld("a", "x"), sampleHeld("b", "x")];
    await store.pins.replaceHeld(a.connector, [a, sampleHeld("a", "y")]);
    await store.pins.replaceHeld(b.connector, [b]);
    await store.pins.replaceHeld(a.connector, [sampleHeld("a", "z")]);
    assert.deepEqual(await store.pins.held(), [sampleHeld("a", "z"), b]);
    assert.deepEqual(await store.pins.held(b.connector), [b]);
  });

  void test("approves over an older pin, and releases only the very definition that was approved", async () => {
    await using store = await open();
    const { connector } = sampleHeld("a", "x");
    await store.pins.claim([samplePin("a", "x")]);
    await store.pins.replaceHeld(connector, [sampleHeld("a", "x", "b"), sampleHeld("a", "y", "c")]);
    await store.pins.approve([samplePin("a", "x", "b"), samplePin("a", "y", "d")]);
    assert.deepEqual(await store.pins.find(connector, "x"), samplePin("a", "x", "b"));
    assert.deepEqual(await store.pins.held(connector), [sampleHeld("a", "y", "c")]);
  });
}

function describeMeta(open: OpenStore): void {
  void test("sets, replaces, and claims only what is free", async () => {
    await using store = await open();
    assert.equal(await store.meta.get("a"), undefined);
    assert.equal(await store.meta.claim("a", "1"), "1");
    assert.equal(await store.meta.claim("a", "2"), "1");
    await store.meta.set("a", "3");
    assert.equal(await store.meta.get("a"), "3");
    await store.meta.erase("a");
    await store.meta.erase("b");
    assert.equal(await store.meta.get("a"), undefined);
  });

  void test("refuses every use after it was closed, and closes twice", async () => {
    const store = await open();
    await store.meta.set("a", "1");
    await store.close();
    await store.close();
    await assert.rejects(store.meta.get("a"), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(store.meta.set("a", "2"), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(store.executions.list({ limit: 1 }), { code: "STORE_UNAVAILABLE" });
  });
}

function describeShapes(open: OpenStore): void {
  const shape = (connector: string, remoteName: string, samples: number): ShapeRow => ({
    connector: certain(parseConnectorId(connector)),
    remoteName,
    definition: certain(parseDigest(`sha256:${"b".repeat(64)}`)),
    shape: '{"type":["string"]}',
    samples,
    changedAt: 7,
  });

  void test("lists what was put, one row for each tool, sorted", async () => {
    await using store = await open();
    assert.deepEqual(await store.shapes.list(), []);
    await store.shapes.put(shape("b", "x", 1));
    await store.shapes.put(shape("a", "y", 1));
    await store.shapes.put(shape("b", "x", 2));
    assert.deepEqual(await store.shapes.list(), [shape("a", "y", 1), shape("b", "x", 2)]);
  });
}
