/** The conformance suite of a store. A test of each implementation calls it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseConnectorId, parseDigest, parsePrincipalId } from "../domain/index.ts";

import { describeApprovals } from "./approvals.conformance.ts";
import { describeCancellations } from "./cancellations.conformance.ts";
import {
  describeExecutions,
  describeFilters,
  describeKeys,
  describeLists,
  describeRetention,
} from "./executions.conformance.ts";
import { describeIdentity } from "./identity.conformance.ts";
import { describeJournals } from "./journals.conformance.ts";
import { describeLabels } from "./labels.conformance.ts";
import { describePins } from "./pins.conformance.ts";
import { describeQuotas } from "./quotas.conformance.ts";
import { describeResults } from "./results.conformance.ts";
import { describeSecrets } from "./secrets.conformance.ts";
import { describeSkills } from "./skills.conformance.ts";
import type { ShapeRow, Store, StoredRecord } from "./store.ts";

/** Opens an empty store; the suite closes it. */
export type OpenStore = () => Promise<Store>;

export function describeStore(name: string, open: OpenStore): void {
  void describe(`${name}: executions`, () => describeExecutions(open));
  void describe(`${name}: retention of executions`, () => describeRetention(open));
  void describe(`${name}: idempotency keys`, () => describeKeys(open));
  void describe(`${name}: lists of executions`, () => describeLists(open));
  void describe(`${name}: filters of executions`, () => describeFilters(open));
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
  void describe(`${name}: identity`, () => describeIdentity(open));
  void describe(`${name}: skills`, () => describeSkills(open));
  void describe(`${name}: cancellations`, () => describeCancellations(open));
}

/** Returns ledger record `seq`; the store does not check the chain. */
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

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

function describeLedger(open: OpenStore): void {
  void test("read returns appended records in order and in pages", async () => {
    await using store = await open();
    assert.equal(await store.ledger.last(), undefined);
    assert.equal(await store.ledger.append([1, 2].map(sampleRecord)), "appended");
    assert.equal(await store.ledger.append([sampleRecord(3)]), "appended");
    assert.deepEqual(await store.ledger.last(), sampleRecord(3));
    assert.deepEqual(await store.ledger.read({ from: 1, limit: 10 }), [1, 2, 3].map(sampleRecord));
    assert.deepEqual(await store.ledger.read({ from: 2, limit: 1 }), [sampleRecord(2)]);
    assert.deepEqual(await store.ledger.read({ from: 4, limit: 1 }), []);
  });

  void test("append writes all of a batch, or nothing if a number exists", async () => {
    await using store = await open();
    await store.ledger.append([sampleRecord(2)]);
    assert.equal(await store.ledger.append([1, 2].map(sampleRecord)), "taken");
    assert.deepEqual(await store.ledger.read({ from: 0, limit: 10 }), [sampleRecord(2)]);
    assert.equal(await store.ledger.append([3, 4].map(sampleRecord)), "appended");
  });

  void test("append keeps any string unchanged", async () => {
    await using store = await open();
    const record = { ...sampleRecord(1), subject: "a\u0000b\u2028'\"", detail: '"🧤\\ud800"' };
    await store.ledger.append([record]);
    assert.deepEqual(await store.ledger.last(), record);
  });
}

function describeMeta(open: OpenStore): void {
  void test("meta values are set and replaced, and claim keeps an existing value", async () => {
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

  void test("a closed store rejects every use, and close is idempotent", async () => {
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
  const shape = (connector: string, remoteName: string, samples: number, owner = "person:ada"): ShapeRow => ({
    owner: certain(parsePrincipalId(owner)),
    connector: certain(parseConnectorId(connector)),
    remoteName,
    definition: certain(parseDigest(`sha256:${"b".repeat(64)}`)),
    shape: '{"type":["string"]}',
    samples,
    changedAt: 7,
  });

  void test("shapes are listed with one row per owner and tool, sorted", async () => {
    await using store = await open();
    assert.deepEqual(await store.shapes.list(), []);
    await store.shapes.put(shape("b", "x", 1));
    await store.shapes.put(shape("a", "y", 1));
    await store.shapes.put(shape("b", "x", 2));
    const ofBob = shape("b", "x", 3, "person:bob");
    await store.shapes.put(ofBob);
    assert.deepEqual(await store.shapes.list(), [shape("a", "y", 1), shape("b", "x", 2), ofBob]);
  });
}
