/** Writes that share a transaction, on a real database. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";

import { createWriteBatcher } from "./write-batcher.ts";

function open() {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE items (n INTEGER PRIMARY KEY)");
  let transactions = 0;
  const flushes = { begun: 0, hold: Promise.resolve() };
  const batcher = createWriteBatcher(database, {
    commit: async (transaction) => {
      transactions += 1;
      return transaction();
    },
    flush: () => {
      flushes.begun += 1;
      return flushes.hold;
    },
  });
  const insert = (n: number) => (): number => {
    database.prepare("INSERT INTO items VALUES (?)").run(n);
    return n;
  };
  const rows = (): unknown[] =>
    database
      .prepare("SELECT n FROM items ORDER BY n")
      .all()
      .map(({ n }) => n);
  return { ...batcher, database, flushes, insert, rows, count: () => transactions };
}

describe("createWriteBatcher", () => {
  it("runs concurrent writes in one transaction and resolves each with its result", async () => {
    const { write, insert, rows, count } = open();
    assert.deepEqual(await Promise.all([write(insert(1)), write(insert(2)), write(() => "three")]), [1, 2, "three"]);
    assert.deepEqual([rows(), count()], [[1, 2], 1]);
    await write(insert(4));
    assert.deepEqual([rows(), count()], [[1, 2, 4], 2]);
  });

  it("resolves unflushed writes of the same transaction before the flush ends", async () => {
    const { write, commit, flushes, insert, rows, count } = open();
    const held = Promise.withResolvers<void>();
    flushes.hold = held.promise;
    const told: string[] = [];
    const durable = write(insert(1)).then(() => told.push("durable"));
    await commit(insert(2)).then(() => told.push("committed"));
    assert.deepEqual([rows(), count(), flushes.begun, told], [[1, 2], 1, 1, ["committed"]]);
    held.resolve();
    await durable;
    assert.deepEqual([flushes.begun, told], [1, ["committed", "durable"]]);
    await commit(insert(3));
    assert.deepEqual([rows(), count(), flushes.begun], [[1, 2, 3], 2, 1]);
  });

  it("rejects flushed writes if the flush fails, and not unflushed ones", async () => {
    const { write, commit, flushes, insert, rows } = open();
    flushes.hold = Promise.reject(new Error("the disk is gone"));
    flushes.hold.catch(() => undefined);
    const outcomes = await Promise.allSettled([write(insert(1)), commit(insert(2))]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "fulfilled"],
    );
    assert.deepEqual(rows(), [1, 2]);
  });

  it("flushes unflushed writes a moment later, once for all of them", async () => {
    const { commit, flushed, flushes, insert } = open();
    await commit(insert(1));
    const first = flushed();
    await commit(insert(2));
    assert.deepEqual([flushes.begun, flushed() === first], [0, true]);
    await first;
    assert.equal(flushes.begun, 1);
    await commit(insert(3));
    assert.notEqual(flushed(), first);
    await flushed();
    assert.equal(flushes.begun, 2);
  });

  it("lets callers of `flushed` wait for a flush that began after their commit, even if another caller asked for it", async () => {
    const { write, commit, flush, flushed, flushes, insert } = open();
    const held = Promise.withResolvers<void>();
    flushes.hold = held.promise;
    const told: string[] = [];
    await commit(insert(1));
    void flushed().then(() => told.push("delayed"));
    void flush();
    void flushed().then(() => told.push("running"));
    await new Promise(setImmediate);
    assert.deepEqual([flushes.begun, told], [1, []]);
    held.resolve();
    await new Promise(setImmediate);
    assert.deepEqual(told.toSorted(), ["delayed", "running"]);
    await write(insert(2));
    await flushed();
    assert.equal(flushes.begun, 2);
  });

  it("flushes what is left when it is stopped, and nothing when all is flushed", async () => {
    const { write, commit, stop, flushes, insert } = open();
    await write(insert(1));
    await stop();
    assert.equal(flushes.begun, 1);
    await commit(insert(2));
    await stop();
    assert.equal(flushes.begun, 2);
  });

  it("commits in order, even if earlier writes wait for a lock", async () => {
    const database = new DatabaseSync(":memory:");
    const locked = Promise.withResolvers<void>();
    const order: number[] = [];
    let isFirst = true;
    const { write, commit } = createWriteBatcher(database, {
      async commit(transaction) {
        if (isFirst) {
          isFirst = false;
          await locked.promise;
        }
        return transaction();
      },
      flush: async () => undefined,
    });
    const all = [commit(() => order.push(1))];
    await new Promise(setImmediate);
    all.push(write(() => order.push(2)));
    await new Promise(setImmediate);
    locked.resolve();
    await Promise.all(all);
    assert.deepEqual(order, [1, 2]);
  });

  it("groups all writes of one turn of the event loop", async () => {
    const { write, insert, rows, count } = open();
    const later = async (): Promise<number> => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      return write(insert(2));
    };
    await Promise.all([write(insert(1)), later()]);
    assert.deepEqual([rows(), count()], [[1, 2], 1]);
  });

  it("rolls back only the write that fails", async () => {
    const { write, insert, rows } = open();
    const half = (): never => {
      insert(7)();
      throw new Error("half way");
    };
    const outcomes = await Promise.allSettled([write(insert(1)), write(half), write(insert(1)), write(insert(2))]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected", "fulfilled"],
    );
    assert.deepEqual(rows(), [1, 2]);
  });

  it("rejects all writes if SQLite ends the transaction", async () => {
    const { database, write, insert, rows } = open();
    const end = (): void => {
      database.exec("ROLLBACK");
      throw new Error("the disk is full");
    };
    const outcomes = await Promise.allSettled([write(insert(1)), write(end), write(insert(2))]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.message),
      ["the disk is full", "the disk is full", "the disk is full"],
    );
    assert.deepEqual(rows(), []);
  });

  it("rejects a single write with its own error and rolls it back", async () => {
    const { write, insert, rows } = open();
    await write(insert(1));
    await assert.rejects(write(insert(1)), { errcode: 1555 });
    assert.deepEqual(rows(), [1]);
  });
});
