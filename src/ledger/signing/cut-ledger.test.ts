/** Retention: what is dropped, what is kept, and that tampering with a cut ledger is still detected. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { openStore } from "../../store/index.ts";
import { openReader, parseLedgerLine, verifyExport } from "../index.ts";
import { cutLedger } from "./cut-ledger.ts";
import type { CutOptions } from "./cut-ledger.ts";
import { SIGNER, copyStore, judge, makeFolder, tamper, useLedger, writeSome } from "./fixtures/signed-store.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const { folder, remove } = makeFolder();
after(remove);

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);

/** Ten records per day for three days, with a checkpoint at the end of each day. */
async function makeLedger(): Promise<string> {
  const path = newPath();
  for (const day of [0, 1, 2]) await useLedger(path, (ledger) => writeSome(ledger, 10), { now: () => day * DAY_MS });
  return path;
}

async function cut(path: string, retention: CutOptions["retention"], sent?: number): Promise<number> {
  const now = (): number => 2 * DAY_MS + 1;
  return useLedger(
    path,
    async (ledger, store) => {
      if (sent !== undefined) {
        await store.exports.claim({ id: "file:a", holder: "me", now: 0, until: 1 });
        await store.exports.note({ id: "file:a", cursor: sent, sentAt: 1, failedAt: null, failure: null });
      }
      const exports = sent === undefined ? [] : ["file:a"];
      return cutLedger({ store, ledger, signer: SIGNER, now, retention, exports });
    },
    { now },
  );
}

describe("cutLedger", () => {
  for (const [name, retention, dropped] of [
    ["drops nothing when no limit is reached", { days: 30, records: 100 }, 0],
    ["drops nothing without a limit", {}, 0],
    ["drops whole days that are old enough", { days: 1 }, 20],
    ["keeps a day that is slightly too young", { days: 1.1 }, 10],
    ["drops records beyond the limit, down to a checkpoint", { records: 10 }, 20],
    ["drops one checkpoint less when one more record is kept", { records: 11 }, 10],
    ["applies the stricter of the two limits", { days: 1.1, records: 10 }, 20],
  ] as const) {
    test(name, async () => {
      const path = await makeLedger();
      assert.equal(await cut(path, retention), dropped);
      const { ok, ...verdict } = await judge(path);
      assert.deepEqual(
        { ok, ...verdict },
        {
          ok: true,
          records: 30 - dropped + (dropped > 0 ? 1 : 0),
          ...(dropped > 0 && { first: dropped + 1 }),
          signed: dropped > 0 ? 31 : 30,
          key: SIGNER.key,
        },
      );
    });
  }

  test("keeps records that an export has not sent yet", async () => {
    assert.equal(await cut(await makeLedger(), { records: 1 }, 19), 10);
    assert.equal(await cut(await makeLedger(), { records: 1 }, 20), 20);
  });

  test("ignores a checkpoint that another key signed", async () => {
    const path = await makeLedger();
    const digest = `sha256:${"f".repeat(64)}`;
    tamper(path, (database) =>
      database.exec(`UPDATE ledger SET digest = '${digest}' WHERE seq = 20;
        UPDATE statements SET text = substr(text, 1, instr(text, '"digest":"') + 9) || '${digest}' ||
          substr(text, instr(text, '"digest":"') + 81) WHERE seq = 20`),
    );
    assert.equal(await cut(path, { records: 10 }), 0);
  });

  test("records the cut and its range in the ledger", async () => {
    const path = await makeLedger();
    await cut(path, { records: 10 });
    await using store = await openStore({ path, now: () => 7 });
    const [record] = await store.ledger.search({ limit: 1, action: "ledger.cut" });
    assert.match(record?.detail ?? "", /^\{"digest":"sha256:[0-9a-f]{64}","first":1,"seq":20\}$/);
    assert.equal(record?.subject, "1-20");
  });

  test("continues after the first cut and drops what a crash left", async () => {
    const path = await makeLedger();
    assert.equal(await cut(path, { records: 20 }), 10);
    tamper(path, (database) =>
      database.exec(
        "INSERT INTO ledger SELECT 10, at, actor, action, subject, detail, previous, digest FROM ledger WHERE seq = 11",
      ),
    );
    assert.deepEqual(await judge(path), {
      ok: false,
      seq: 10,
      problem: "a record was added where records were dropped",
    });
    assert.equal(await cut(path, { records: 20 }), 1);
    assert.equal(await cut(path, { records: 1 }), 20);
    assert.deepEqual(await judge(path), { ok: true, records: 2, first: 31, signed: 32, key: SIGNER.key });
  });
});

describe("a ledger with a cut", () => {
  test("fails verification when more records are dropped or the cut is removed or changed", async () => {
    const path = await makeLedger();
    await cut(path, { records: 20 });
    for (const sql of [
      "DELETE FROM ledger WHERE seq = 11",
      "DELETE FROM ledger",
      "DELETE FROM statements WHERE kind = 'cut'",
      "UPDATE statements SET seq = 20 WHERE kind = 'cut'; DELETE FROM ledger WHERE seq <= 20",
      "UPDATE statements SET text = replace(text, '\"seq\":10', '\"seq\":20'), seq = 20 WHERE kind = 'cut'; DELETE FROM ledger WHERE seq <= 20",
      "DELETE FROM statements WHERE number = 2",
    ]) {
      const copy = copyStore(path, newPath());
      tamper(copy, (database) => database.exec(sql));
      assert.equal((await judge(copy)).ok, false, sql);
    }
    assert.equal((await judge(copyStore(path, newPath()))).ok, true);
  });

  test("verifies while a cut is in progress, unless the records still to be dropped are changed", async () => {
    const path = await makeLedger();
    const before = copyStore(path, newPath());
    await cut(path, { records: 20 });
    const restore = `ATTACH '${before}' AS old; INSERT INTO ledger SELECT * FROM old.ledger WHERE seq BETWEEN 6 AND 10;
      INSERT INTO statements SELECT * FROM old.statements WHERE number = 1;`;
    for (const [sql, ok] of [
      ["", true],
      ["UPDATE ledger SET actor = 'x' WHERE seq = 8", false],
      ["DELETE FROM ledger WHERE seq = 8", false],
      ["INSERT INTO ledger SELECT 0, at, actor, action, subject, detail, previous, digest FROM ledger LIMIT 1", false],
    ] as const) {
      const copy = copyStore(path, newPath());
      tamper(copy, (database) => database.exec(restore + sql));
      assert.equal((await judge(copy)).ok, ok, sql);
      await using store = await openStore({ path: copy, now: () => 7 });
      const reader = openReader({ store, signer: SIGNER, headFile: `${copy}.head`, now: () => 7 });
      assert.equal((await reader.search({ limit: 100 })).at(-1)?.["seq"], 11);
      const seen: unknown[] = [];
      for await (const { seq } of reader.records()) seen.push(seq);
      assert.equal(seen[0], 11);
    }
  });

  test("exports the remaining records with the number of the first", async () => {
    const path = await makeLedger();
    await cut(path, { records: 20 });
    await using store = await openStore({ path, now: () => 7 });
    const lines: string[] = [];
    const reader = openReader({ store, signer: SIGNER, headFile: `${path}.head`, now: () => 7 });
    for await (const line of reader.export()) lines.push(line);
    assert.deepEqual(await verifyExport(lines.map(parseLedgerLine), SIGNER.key), {
      ok: true,
      records: 21,
      first: 11,
      signed: 31,
      key: SIGNER.key,
    });
  });

  test("refuses to delete a record that no cut covers", async () => {
    const path = await makeLedger();
    await cut(path, { records: 20 });
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(path);
    assert.throws(() => database.exec("DELETE FROM ledger WHERE seq = 11"), /append-only/);
    assert.throws(() => database.exec("DELETE FROM statements WHERE number = 2"), /append-only/);
    database.close();
  });
});
