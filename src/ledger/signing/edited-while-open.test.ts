/** A forger edits the file of a ledger while a gateway writes to it: the gateway must not sign the edits. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { openStore } from "../../store/index.ts";
import { BY_HAND, SIGNER, editHead, judge, makeFolder, tamper, useLedger, writeSome } from "./fixtures/signed-store.ts";
import { rechain } from "./fixtures/rechain.ts";

const { folder, remove } = makeFolder();
after(remove);
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
/** Returns 0 between the removal of a wrong head and the next one. */
function seqOf(path: string): number {
  if (!existsSync(`${path}.head`)) return 0;
  return (JSON.parse(readFileSync(`${path}.head`, "utf8")) as { seq: number }).seq;
}
const QUICK = { ...BY_HAND, headMs: 1 };

/** Replaces the records from `from` to `to` by others with a valid chain. */
function replace(database: DatabaseSync, from: number, to: number): void {
  database.exec(`DELETE FROM ledger WHERE seq >= ${from}`);
  for (let seq = from; seq <= to; seq += 1)
    database.exec(`INSERT INTO ledger VALUES (${seq}, 7, 'a', 'harmless.thing', 'nothing', '{}', '', '')`);
  rechain(database, from);
}

async function suspicionsOf(path: string): Promise<readonly string[]> {
  await using store = await openStore({ path, now: () => 7 });
  const found = await store.ledger.search({ limit: 9, action: "ledger.suspect" });
  return [...new Set(found.map(({ subject }) => subject))];
}

describe("a ledger that is edited while it is open", () => {
  test("records that its records were replaced by a valid chain that takes its next number", async () => {
    const path = newPath();
    await useLedger(
      path,
      async (ledger) => {
        await writeSome(ledger, 6);
        while (seqOf(path) < 6) await wait(2);
        tamper(path, (database) => replace(database, 3, 7));
        await writeSome(ledger, 2);
        while (seqOf(path) < 10) await wait(2);
        assert.deepEqual(await judge(path), {
          ok: false,
          seq: 8,
          problem: "noted by the gateway: record 6 is not the one that was written",
        });
      },
      { schedule: QUICK },
    );
    assert.equal((await judge(path)).ok, false);
    assert.deepEqual(await suspicionsOf(path), ["record 6 is not the one that was written"]);
  });

  test("continues without a warning when another process took its next numbers", async () => {
    const path = newPath();
    await useLedger(path, async (ledger) => {
      await writeSome(ledger, 6);
      await useLedger(path, (other) => writeSome(other, 3), { isNewKey: false });
      await writeSome(ledger, 2);
    });
    assert.deepEqual(await judge(path), { ok: true, records: 11, signed: 11, key: SIGNER.key });
  });

  test("records that foreign records do not follow its own", async () => {
    const path = newPath();
    await useLedger(path, async (ledger) => {
      await writeSome(ledger, 3);
      const copy = "SELECT 4, at, actor, action, subject, detail, previous, digest FROM ledger WHERE seq = 3";
      tamper(path, (database) => database.exec(`INSERT INTO ledger ${copy}`));
      await writeSome(ledger, 1);
    });
    assert.deepEqual(await suspicionsOf(path), ["record 4: the record was changed"]);
  });

  const attacks: readonly (readonly [name: string, act: (path: string) => void, noted: string])[] = [
    [
      "its records below the head are replaced",
      (path) => tamper(path, (database) => replace(database, 3, 6)),
      "record 6 is not the one that was written",
    ],
    ["its head is removed", (path) => rmSync(`${path}.head`), "the signed head is missing"],
    [
      "its head is edited",
      (path) => editHead(path, (text) => text.replace('"seq":6', '"seq":5')),
      "the signed head was changed",
    ],
    [
      "a forged cut covers missing records",
      (path) =>
        tamper(path, (database) =>
          database.exec(`DELETE FROM ledger WHERE seq <= 6; INSERT INTO statements VALUES (1, 'cut', 6, 7, '{}')`),
        ),
      "statement 1 was changed",
    ],
  ];
  for (const [name, act, noted] of attacks)
    test(`records the problem before it signs again when ${name}`, async () => {
      const path = newPath();
      await useLedger(
        path,
        async (ledger) => {
          await writeSome(ledger, 6);
          while (seqOf(path) < 6) await wait(2);
          act(path);
        },
        { schedule: QUICK },
      );
      assert.equal((await judge(path)).ok, false);
      assert.deepEqual(await suspicionsOf(path), [noted]);
    });

  test("signs a checkpoint after the configured time when it is idle", async () => {
    const path = newPath();
    const schedule = { headMs: 1, records: 1_000, checkpointMs: 60 };
    await useLedger(
      path,
      async (ledger, store) => {
        await writeSome(ledger, 1);
        while (!(await store.statements.last())) await wait(2);
        assert.equal((await store.statements.last())?.seq, 1);
      },
      { now: Date.now, schedule },
    );
  });
});
