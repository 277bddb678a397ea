/** The signed ledger: what it signs and when, and how it reacts to tampering. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import {
  BY_HAND,
  SIGNER,
  STRANGER,
  copyStore,
  editHead,
  judge,
  makeFolder,
  tamper,
  useLedger,
  writeSome,
} from "./fixtures/signed-store.ts";
import { readStatements } from "./check-statements.ts";

const { folder, remove } = makeFolder();
after(remove);

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);

async function placesOf(path: string): Promise<readonly (readonly unknown[])[]> {
  await using store = await openStore({ path, now: () => 7 });
  return (await readStatements(store.statements)).map(({ number, kind, seq }) => [number, kind, seq]);
}

const headOf = (path: string): unknown => {
  const { number, seq } = JSON.parse(readFileSync(`${path}.head`, "utf8")) as { number: number; seq: number };
  return [number, seq];
};

describe("openSignedLedger signing", () => {
  test("writes a head with mode 0600 at once and a checkpoint at each close", async () => {
    const path = newPath();
    await useLedger(path, async (ledger) => {
      assert.deepEqual(headOf(path), [0, 0]);
      assert.equal(statSync(`${path}.head`).mode & 0o777, 0o600);
      await writeSome(ledger, 3);
      assert.deepEqual(headOf(path), [0, 0]);
    });
    assert.deepEqual([headOf(path), await placesOf(path)], [[1, 3], [[1, "checkpoint", 3]]]);
    await useLedger(path, async () => undefined);
    assert.deepEqual([headOf(path), await placesOf(path)], [[1, 3], [[1, "checkpoint", 3]]]);
  });

  test("signs a checkpoint at the configured number of records and not one earlier", async () => {
    for (const [count, expected] of [
      [4, []],
      [5, [[1, "checkpoint", 5]]],
    ] as const) {
      const path = newPath();
      await useLedger(
        path,
        async (ledger) => {
          await writeSome(ledger, count);
          while (String(headOf(path)) === "0,0") await wait(5);
          assert.deepEqual([headOf(path), await placesOf(path)], [[expected.length, count], expected]);
        },
        { schedule: { ...BY_HAND, headMs: 1, records: 5 } },
      );
    }
  });

  test("signs a checkpoint after the configured time", async () => {
    const path = newPath();
    let now = 0;
    await useLedger(
      path,
      async (ledger) => {
        now = 60;
        await writeSome(ledger, 1);
        while (String(headOf(path)) === "0,0") await wait(5);
        assert.deepEqual(await placesOf(path), [[1, "checkpoint", 1]]);
      },
      { now: () => now, schedule: { headMs: 1, records: 1_000, checkpointMs: 60 } },
    );
  });

  test("keeps statement numbers without gaps and never moves the head back with two writers", async () => {
    const path = newPath();
    await useLedger(path, async (one) => {
      await writeSome(one, 2);
      await useLedger(path, (two) => writeSome(two, 3));
      assert.deepEqual(headOf(path), [1, 5]);
    });
    assert.deepEqual(
      [headOf(path), await placesOf(path)],
      [
        [1, 5],
        [
          [1, "checkpoint", 5],
          [2, "checkpoint", 2],
        ],
      ],
    );
    assert.equal((await judge(path)).ok, true);
  });

  test("continues when the head file cannot be written", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 2), { headFile: join(folder, "none", "head"), isNewKey: true });
    assert.deepEqual(await placesOf(path), [[1, "checkpoint", 2]]);
  });
});

describe("openSignedLedger after tampering", () => {
  const attacks: readonly (readonly [name: string, act: (path: string) => void, noted: string])[] = [
    [
      "whose last records and statements were removed",
      (path) => tamper(path, (database) => database.exec("DELETE FROM ledger WHERE seq > 4; DELETE FROM statements")),
      "statements were removed up to 1",
    ],
    [
      "whose last records were removed",
      (path) => tamper(path, (database) => database.exec("DELETE FROM ledger WHERE seq > 4")),
      "records were removed up to 6",
    ],
    [
      "that was emptied together with its head",
      (path) => {
        tamper(path, (database) => database.exec("DELETE FROM ledger; DELETE FROM statements"));
        rmSync(`${path}.head`);
      },
      "the signed head is missing",
    ],
    [
      "that was deleted together with its head",
      (path) => ["", "-wal", "-shm", ".head"].forEach((end) => rmSync(`${path}${end}`, { force: true })),
      "the signed head is missing",
    ],
    ["whose head was removed", (path) => rmSync(`${path}.head`), "the signed head is missing"],
    [
      "whose head was edited",
      (path) => editHead(path, (text) => text.replace('"seq":6', '"seq":5')),
      "the signed head was changed",
    ],
    ["whose head is not a statement", (path) => editHead(path, () => "{}"), "the signed head was changed"],
    [
      "whose last record was replaced",
      (path) => tamper(path, (database) => database.exec("UPDATE ledger SET digest = previous WHERE seq = 6")),
      "record 6 is not the one that was written",
    ],
  ];
  for (const [name, act, noted] of attacks) {
    test(`opens a ledger ${name} and records the problem permanently`, async () => {
      const path = newPath();
      await useLedger(path, (ledger) => writeSome(ledger, 6));
      act(path);
      assert.equal((await judge(path)).ok, false);
      await useLedger(path, (ledger) => writeSome(ledger, 9), { isNewKey: false });
      const later = await judge(path);
      assert.equal(later.ok, false);
      await using store = await openStore({ path, now: () => 7 });
      const [found] = await store.ledger.search({ limit: 1, action: "ledger.suspect" });
      assert.deepEqual([found?.actor, found?.subject], ["gateway", noted]);
    });
  }

  test("waits for the head of a process that just created the key", async () => {
    const path = newPath();
    const late = useLedger(path, (ledger) => writeSome(ledger, 1), { isNewKey: false });
    await wait(30);
    await useLedger(path, (ledger) => writeSome(ledger, 1), { isNewKey: true });
    await late;
    assert.deepEqual(await judge(path), { ok: true, records: 2, signed: 2, key: SIGNER.key });
  });

  test("detects a missing statement below an older head", async () => {
    const path = newPath();
    for (const _turn of [1, 2]) await useLedger(path, (ledger) => writeSome(ledger, 2));
    const older = readFileSync(`${path}.head`, "utf8");
    await useLedger(path, (ledger) => writeSome(ledger, 2));
    editHead(path, () => older);
    assert.equal((await judge(path)).ok, true);
    tamper(path, (database) => database.exec("DELETE FROM statements WHERE number = 2"));
    assert.deepEqual(await judge(path), { ok: false, seq: 1, problem: "statement 2 is missing" });
  });

  test("records nothing when the ledger was not changed", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 6));
    await useLedger(path, (ledger) => writeSome(ledger, 9), { isNewKey: false });
    assert.deepEqual(await judge(path), { ok: true, records: 15, signed: 15, key: SIGNER.key });
  });

  test("reports removed records even after the ledger has grown past them", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 6));
    tamper(path, (database) => database.exec("DELETE FROM ledger WHERE seq > 4"));
    await useLedger(path, (ledger) => writeSome(ledger, 9), { isNewKey: false });
    tamper(path, (database) => database.exec("DELETE FROM statements WHERE number = 1"));
    assert.equal((await judge(path)).ok, false);
  });
});

describe("the signing key", () => {
  test("refuses a store that another key signed and leaves it unchanged", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 2));
    await assert.rejects(
      useLedger(path, (ledger) => writeSome(ledger, 1), { signer: STRANGER, isNewKey: true }),
      (thrown) => thrown instanceof GloveboxError && thrown.code === "CONFIG_INVALID",
    );
    assert.deepEqual(await judge(path), { ok: true, records: 2, signed: 2, key: SIGNER.key });
  });

  test("rejects a ledger that was replaced and signed with another key, unless that key is pinned", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 2), { signer: STRANGER });
    assert.equal((await judge(path)).ok, false);
    assert.equal((await judge(path, STRANGER.key)).ok, true);
  });

  test("rejects unsigned records when a key is required", async () => {
    const path = newPath();
    await useLedger(path, (ledger) => writeSome(ledger, 2));
    const bare = copyStore(path, newPath());
    rmSync(`${bare}.head`);
    tamper(bare, (database) => database.exec("DELETE FROM statements"));
    assert.deepEqual(await judge(bare), { ok: false, seq: 1, problem: "the signed head is missing" });
  });
});
