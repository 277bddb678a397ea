/** The ledger on a real store: chained, durable, grouped, and consistent when the store fails. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { digestOf } from "../text/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import type { Store } from "../store/index.ts";

import { openLedger } from "./open-ledger.ts";
import type { LedgerEntry } from "./record.ts";
import { verifyLedger } from "./fixtures/verify-ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-ledger-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
const now = (): number => 1_000;
const entry = (n: number): LedgerEntry => ({ actor: "local", action: "test.did", subject: `s${n}`, detail: { n } });

async function all(records: AsyncIterable<JsonObject>): Promise<readonly JsonObject[]> {
  const list: JsonObject[] = [];
  for await (const record of records) list.push(record);
  return list;
}

function nest(depth: number): JsonObject {
  return JSON.parse(`${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`);
}

/** The same store with a commit counter and a fault that can be switched on. */
function watched(store: Store): { readonly ledger: Store["ledger"]; commits: number; isBroken: boolean } {
  const watch = {
    commits: 0,
    isBroken: false,
    ledger: {
      ...store.ledger,
      append: async (records: Parameters<Store["ledger"]["append"]>[0]) => {
        if (watch.isBroken) throw new GloveboxError("STORE_UNAVAILABLE", "broken");
        watch.commits += 1;
        return store.ledger.append(records);
      },
    },
  };
  return watch;
}

describe("ledger.write", () => {
  test("chains each record to the one before", async () => {
    await using store = await openStore({ path: ":memory:", now });
    await using ledger = await openLedger({ store, now });
    const first = await ledger.write(entry(1));
    const second = await ledger.write(entry(2));
    const { digest, ...body } = first;
    assert.deepEqual(body, { ...entry(1), seq: 1, at: 1_000, previous: `sha256:${"0".repeat(64)}` });
    assert.equal(digest, digestOf(body));
    assert.deepEqual([second.seq, second.previous], [2, first.digest]);
    assert.deepEqual(await all(ledger.records()), [first, second]);
    assert.deepEqual(await all(ledger.records({ from: 2 })), [second]);
    assert.deepEqual(await ledger.head(), { seq: 2, digest: second.digest });
  });

  test("continues the chain of the last process", async () => {
    const path = newPath();
    for (const n of [1, 2]) {
      await using store = await openStore({ path, now });
      await using ledger = await openLedger({ store, now });
      assert.equal((await ledger.write(entry(n))).seq, n);
    }
    await using store = await openStore({ path, now });
    await using ledger = await openLedger({ store, now });
    assert.deepEqual(await verifyLedger(ledger.records()), { ok: true, records: 2 });
  });

  test("writes concurrent records in one transaction, in call order", async () => {
    await using store = await openStore({ path: ":memory:", now });
    const watch = watched(store);
    await using ledger = await openLedger({ store: watch, now });
    const records = await Promise.all(Array.from({ length: 200 }, (_, n) => ledger.write(entry(n))));
    assert.deepEqual(
      records.map(({ seq, subject }) => [seq, subject]),
      records.map((_, n) => [n + 1, `s${n}`]),
    );
    assert.equal(watch.commits, 1);
    await Promise.all(Array.from({ length: 257 }, (_, n) => ledger.write(entry(n))));
    assert.equal(watch.commits, 3);
    assert.deepEqual(await verifyLedger(ledger.records()), { ok: true, records: 457 });
  });

  test("rejects while the store fails, leaves no gap, and works again afterwards", async () => {
    await using store = await openStore({ path: ":memory:", now });
    const watch = watched(store);
    await using ledger = await openLedger({ store: watch, now });
    await ledger.write(entry(1));
    watch.isBroken = true;
    const refused = await Promise.allSettled([ledger.write(entry(2)), ledger.write(entry(3))]);
    assert.deepEqual(
      refused.map((outcome) => outcome.status === "rejected" && outcome.reason.code),
      ["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"],
    );
    watch.isBroken = false;
    assert.equal((await ledger.write(entry(4))).seq, 2);
    assert.deepEqual(await verifyLedger(ledger.records()), { ok: true, records: 2 });
  });

  test("keeps one chain when two processes share the store", async () => {
    const path = newPath();
    await using one = await openStore({ path, now });
    await using two = await openStore({ path, now });
    await using first = await openLedger({ store: one, now });
    await using second = await openLedger({ store: two, now });
    for (let n = 0; n < 5; n += 1) await Promise.all([first, second, second].map((ledger) => ledger.write(entry(n))));
    assert.deepEqual(await verifyLedger(first.records()), { ok: true, records: 15 });
  });

  test("stores a cleaned copy of the entry, even if the caller changes it afterwards", async () => {
    await using store = await openStore({ path: ":memory:", now });
    await using ledger = await openLedger({ store, now });
    const detail = { text: "\u0000\ud800 \u2028", list: [1] };
    const writing = ledger.write({
      actor: "a\ud800\u202e",
      action: "x.y",
      subject: "two\r\nlines\u001b[31m\u0000",
      detail,
    });
    detail.list.push(2);
    const { actor, subject, detail: kept } = await writing;
    assert.deepEqual([actor, subject, kept], ["a\ufffd", "two lines", { text: "\u0000\ud800 \u2028", list: [1] }]);
    assert.deepEqual(await verifyLedger(ledger.records()), { ok: true, records: 1 });
  });

  test("limits the length of names and the nesting of details", async () => {
    await using store = await openStore({ path: ":memory:", now });
    await using ledger = await openLedger({ store, now });
    const subjects = await Promise.all(
      [1_023, 1_024, 1_025].map((length) => ledger.write({ ...entry(1), subject: "x".repeat(length) })),
    );
    assert.deepEqual(
      subjects.map(({ subject }) => subject.replace("x".repeat(1_023), "")),
      ["", "x", "x… [cut: 1 bytes more]"],
    );
    await ledger.write({ ...entry(1), detail: nest(63) });
    await ledger.write({ ...entry(1), detail: nest(64) });
    await assert.rejects(ledger.write({ ...entry(1), detail: nest(65) }), TypeError);
    assert.deepEqual(await verifyLedger(ledger.records()), { ok: true, records: 5 });
  });

  test("announces a head once it is on disk, and heads in order", async () => {
    await using store = await openStore({ path: ":memory:", now });
    const heads: number[] = [];
    await using ledger = await openLedger({ store, now, onAppended: ({ seq }) => heads.push(seq) });
    await ledger.write(entry(1), "committed");
    await ledger.write(entry(2), "committed");
    assert.deepEqual(heads, []);
    await store.ledger.flushed();
    assert.deepEqual(heads, [2], "one announcement for all records that a flush covers");
    await ledger.write(entry(3), "committed");
    await ledger.write(entry(4));
    await store.ledger.flushed();
    assert.deepEqual(heads.at(-1), 4);
    assert.deepEqual(
      heads,
      heads.toSorted((one, other) => one - other),
    );
  });

  test("finishes pending writes when it is closed and refuses later ones", async () => {
    await using store = await openStore({ path: ":memory:", now });
    const ledger = await openLedger({ store, now });
    const writing = ledger.write(entry(1));
    await ledger.close();
    assert.equal((await writing).seq, 1);
    await assert.rejects(ledger.write(entry(2)), { code: "STORE_UNAVAILABLE" });
  });
});

describe("openLedger", () => {
  test("refuses to continue after a damaged record and names the remedy", async () => {
    await using store = await openStore({ path: ":memory:", now });
    const record = { seq: 1, at: 1, actor: "", action: "", subject: "", detail: "{}", previous: "", digest: "nothing" };
    await store.ledger.append([record]);
    await assert.rejects(openLedger({ store, now }), {
      code: "STORE_UNAVAILABLE",
      message: /last ledger record, 1, is damaged/,
    });
  });
});
