/** The conformance suite of ledger search, signed statements and exports. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { sampleRecord } from "./store.conformance.ts";
import type { LedgerQuery, StatementRow, Store, StoredRecord } from "./store.ts";

const EX = "ex_00000000000000000000000a";

const RECORDS: readonly Partial<StoredRecord>[] = [
  { actor: "ada", action: "execution.opened", subject: EX, detail: "{}" },
  { actor: "ada", action: "call.intended", subject: "files.read", detail: `{"decision":"deny","execution":"${EX}"}` },
  {
    actor: "ada",
    action: "call.ended",
    subject: "files.read",
    detail: `{"code":"POLICY_DENIED","execution":"${EX}","outcome":"error"}`,
  },
  { actor: "bob", action: "call.ended", subject: "files.write", detail: '{"execution":"ex_other","outcome":"ok"}' },
  { actor: "bob", action: "callback.ended", subject: "x", detail: "damaged" },
  { actor: "ada", action: "execution.closed", subject: EX, detail: '{"state":"failed"}' },
];

export function describeSearch(open: () => Promise<Store>): void {
  const searches: readonly (readonly [string, Omit<LedgerQuery, "limit">, readonly number[]])[] = [
    ["everything, newest first", {}, [6, 5, 4, 3, 2, 1]],
    ["by actor", { actor: "bob" }, [5, 4]],
    ["by subject", { subject: "files.read" }, [3, 2]],
    ["by the namespace of a subject", { subject: "files.*" }, [4, 3, 2]],
    ["by a namespace, and not by the beginning of one", { subject: "file.*" }, []],
    ["by action", { action: "call.ended" }, [4, 3]],
    ["by the noun of an action, and not by its beginning", { action: "call" }, [4, 3, 2]],
    ["by outcome", { outcome: "error" }, [3]],
    ["by state", { outcome: "failed" }, [6]],
    ["by decision", { outcome: "deny" }, [2]],
    ["by code", { outcome: "POLICY_DENIED" }, [3]],
    ["by execution", { execution: EX }, [6, 3, 2, 1]],
    ["by any of several executions", { execution: [EX, "ex_other"] }, [6, 4, 3, 2, 1]],
    ["by no execution at all", { execution: [] }, []],
    ["from a moment on", { since: 1_005 }, [6, 5]],
    ["up to a moment", { until: 1_002 }, [2, 1]],
    ["before a number", { before: 3 }, [2, 1]],
    ["by several at once", { actor: "ada", action: "call", outcome: "error", since: 1_003, until: 1_003 }, [3]],
    ["by what is not there", { actor: "carol" }, []],
  ];
  for (const [name, query, expected] of searches) {
    void test(`search finds ${name}`, async () => {
      await using store = await open();
      await store.ledger.append(RECORDS.map((record, index) => ({ ...sampleRecord(index + 1), ...record })));
      const numbers = async (limit: number): Promise<readonly number[]> =>
        (await store.ledger.search({ ...query, limit })).map(({ seq }) => seq);
      assert.deepEqual(await numbers(50), expected);
      assert.deepEqual(await numbers(1), expected.slice(0, 1));
    });
  }
}

export function describeStatements(open: () => Promise<Store>): void {
  void test("statements are read in order, and append rejects an existing number", async () => {
    await using store = await open();
    const [one, two] = [toRow(1, 3), toRow(2, 5)];
    assert.deepEqual(
      [await store.statements.append(one), await store.statements.append(two)],
      ["appended", "appended"],
    );
    assert.equal(await store.statements.append({ ...one, text: "other" }), "taken");
    assert.deepEqual(await store.statements.read({ from: 1, limit: 9 }), [one, two]);
    assert.deepEqual(await store.statements.last(), two);
    assert.equal(await store.statements.lastCut(), undefined);
    assert.deepEqual(await store.statements.findCheckpoint({ at: 99, seq: 4 }), one);
    assert.deepEqual(await store.statements.findCheckpoint({ at: 1, seq: 9 }), one);
    assert.equal(await store.statements.findCheckpoint({ at: 0, seq: 9 }), undefined);
  });

  void test("drop deletes records up to the last cut, in batches", async () => {
    await using store = await open();
    await store.ledger.append([1, 2, 3, 4, 5].map(sampleRecord));
    await store.statements.append(toRow(1, 3));
    assert.equal(await store.statements.drop(9, 1), 0);
    await store.statements.append({ ...toRow(2, 3), kind: "cut" });
    assert.deepEqual([await store.statements.drop(2, 1), await store.statements.drop(2, 1)], [2, 1]);
    assert.deepEqual(
      (await store.ledger.read({ from: 1, limit: 9 })).map(({ seq }) => seq),
      [4, 5],
    );
    assert.deepEqual(
      (await store.statements.read({ from: 1, limit: 9 })).map(({ number }) => number),
      [2],
    );
  });

  void test("an export is held by one process and keeps its cursor", async () => {
    await using store = await open();
    const fresh = { id: "a", cursor: 0, sentAt: null, failedAt: null, failure: null };
    const claim = (holder: string, now: number) => store.exports.claim({ id: "a", holder, now, until: now + 10 });
    assert.deepEqual(await claim("me", 0), fresh);
    assert.equal(await claim("other", 9), undefined);
    assert.deepEqual(await claim("me", 5), fresh);
    const sent = { id: "a", cursor: 7, sentAt: 8, failedAt: 9, failure: "away" };
    await store.exports.note(sent);
    assert.deepEqual(await claim("other", 15), sent);
    assert.equal(await claim("me", 16), undefined);
    assert.deepEqual(await store.exports.list(), [sent]);
    await store.exports.release({ id: "a", holder: "me" });
    assert.deepEqual([await store.exports.holder("a"), await claim("me", 16)], ["other", undefined]);
    await store.exports.release({ id: "a", holder: "other" });
    assert.deepEqual(await claim("me", 16), sent);
  });
}

function toRow(number: number, seq: number): StatementRow {
  return { number, kind: "checkpoint", seq, at: number, text: `statement ${number}` };
}
