/** A chain reveals every edit, removal, insertion and move; a missing end only if the head is known. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import { digestOf } from "../text/index.ts";
import { canonicalJson } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import type { StoredRecord } from "../store/index.ts";

import { openLedger } from "./open-ledger.ts";
import { parseLedgerLine, toJsonRecord } from "./record.ts";
import { verifyLedger } from "./fixtures/verify-ledger.ts";

const COUNT = 8;
const chain = await makeChain();
const good = { ok: true, records: COUNT };

async function makeChain(): Promise<readonly JsonObject[]> {
  await using store = await openStore({ path: ":memory:", now: () => 1 });
  await using ledger = await openLedger({ store, now: () => 5 });
  for (let n = 1; n <= COUNT; n += 1) {
    await ledger.write({ actor: "local", action: "test.did", subject: "s", detail: { n, deep: ["x", { y: null }] } });
  }
  const records: JsonObject[] = [];
  for await (const record of ledger.records()) records.push(record);
  return records;
}

/** Recomputes the digest of a changed record, as a careful forger would. */
function reseal(record: JsonObject): JsonObject {
  const { digest: _, ...body } = record;
  return { ...body, digest: digestOf(body) };
}

describe("verifyLedger", () => {
  test("accepts an untouched chain from an array, a stream and lines, and an empty one", async () => {
    assert.deepEqual(await verifyLedger(chain), good);
    assert.deepEqual(await verifyLedger(chain.map(canonicalJson).map(parseLedgerLine)), good);
    assert.deepEqual(await verifyLedger([]), { ok: true, records: 0 });
  });

  test("detects an edit of any field", async () => {
    const edits = { at: 6, actor: "eve", action: "test.undid", subject: "t", detail: {}, digest: digestOf("x") };
    for (const [field, value] of Object.entries(edits)) {
      const verdict = await verifyLedger(chain.with(3, { ...chain[3], [field]: value }));
      assert.deepEqual(verdict, { ok: false, seq: 4, problem: "the record was changed" }, field);
    }
  });

  test("detects an edit with a recomputed digest", async () => {
    const forged = chain.with(3, reseal({ ...chain[3], actor: "eve" }));
    assert.deepEqual(await verifyLedger(forged), {
      ok: false,
      seq: 5,
      problem: "the record does not follow the one before",
    });
    const other = chain.with(3, reseal({ ...chain[3], previous: digestOf("x") }));
    assert.deepEqual(await verifyLedger(other), {
      ok: false,
      seq: 4,
      problem: "the record does not follow the one before",
    });
  });

  test("detects removals, insertions and moves", async () => {
    assert.deepEqual(await verifyLedger(chain.toSpliced(0, 1)), {
      ok: false,
      seq: 1,
      problem: "records are missing: 2 follows 0",
    });
    assert.deepEqual(await verifyLedger(chain.toSpliced(3, 0, chain[2] ?? {})), {
      ok: false,
      seq: 4,
      problem: "record 3 is repeated or out of order",
    });
    assert.deepEqual(await verifyLedger(chain.toReversed()), {
      ok: false,
      seq: 1,
      problem: "records are missing: 8 follows 0",
    });
  });

  test("detects a missing end only if the head is known", async () => {
    const digest = digestOf(
      Object.fromEntries(Object.entries(chain[COUNT - 1] ?? {}).filter(([key]) => key !== "digest")),
    );
    const head = { seq: COUNT, digest };
    const short = chain.slice(0, -1);
    assert.deepEqual(await verifyLedger(chain, { head }), good);
    assert.deepEqual(await verifyLedger(short), { ok: true, records: 7 });
    assert.deepEqual(await verifyLedger(short, { head }), {
      ok: false,
      seq: 8,
      problem: `the ledger should end at record 8 with ${digest}`,
    });
  });

  test("rejects anything that is not exactly a record", async () => {
    const deep: unknown = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
    const { actor: _, ...less } = chain[0] ?? {};
    const wrong = [
      null,
      5,
      "x",
      undefined,
      [],
      less,
      { ...chain[0], more: 1 },
      { ...chain[0], seq: 1.5 },
      { ...chain[0], detail: deep },
    ];
    for (const raw of wrong) {
      assert.deepEqual(await verifyLedger([raw]), { ok: false, seq: 1, problem: "this is not a ledger record" });
    }
  });

  test("detects every random change of one character in an export", async () => {
    const lines = chain.map(canonicalJson);
    const change = fc.tuple(
      fc.nat(COUNT - 1),
      fc.nat(1_000),
      fc.constantFrom("", " ", "0", "9", "a", '"', "}", "\u200b"),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([index, at, insert]) => {
        const line = lines[index] ?? "";
        const place = at % line.length;
        const changed = line.slice(0, place) + insert + line.slice(place + 1);
        fc.pre(changed !== line);
        const verdict = await verifyLedger(lines.with(index, changed).map(parseLedgerLine));
        assert.equal(verdict.ok, false);
      }),
      { numRuns: 300 },
    );
  });
});

describe("toJsonRecord", () => {
  const stored: StoredRecord = {
    seq: 1,
    at: 2,
    actor: "a",
    action: "b",
    subject: "c",
    detail: '{"d":1}',
    previous: "e",
    digest: "f",
  };

  test("includes the detail unless it is not canonical", () => {
    const { detail: _, ...rest } = stored;
    assert.deepEqual(toJsonRecord(stored), { ...stored, detail: { d: 1 } });
    for (const detail of ['{"d": 1}', '{"d":0,"d":1}', "{", '{"d":1.0}']) {
      assert.deepEqual(toJsonRecord({ ...stored, detail }), rest);
    }
  });
});
