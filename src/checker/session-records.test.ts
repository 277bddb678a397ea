/** Which sessions are checked apart from others, and for how long. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { MINUTE_MS } from "../timing/index.ts";
import { createSessionRecords } from "./session-records.ts";
import type { CheckOwner, SessionRecords } from "./session-records.ts";

const sessionOf = (id: string, session: number | string): CheckOwner => ({ id, session: String(session) });

function fill(count: number, records: SessionRecords = createSessionRecords(() => 0)): SessionRecords {
  for (let session = 0; session < count; session += 1) records.noteSlow(sessionOf("a", session));
  return records;
}

describe("the records of sessions", () => {
  it("keeps a slow session apart, and neither other sessions nor other principals", () => {
    const records = fill(1);
    assert.equal(records.isApart(sessionOf("a", 0)), true);
    for (const other of [sessionOf("a", 1), sessionOf("b", 0), { id: "a" }])
      assert.equal(records.isApart(other), false);
  });
  it("treats requests without a session as one session", () => {
    const records = createSessionRecords(() => 0);
    records.noteSlow({ id: "a" });
    assert.deepEqual([records.isApart({ id: "a" }), records.isApart({ id: "b" })], [true, false]);
  });
  for (const [kind, ms] of [
    ["slow", MINUTE_MS],
    ["failed", 10 * MINUTE_MS],
    ["failed and then slow", 10 * MINUTE_MS],
  ] as const) {
    it(`keeps a session apart for ${ms / MINUTE_MS} min after a ${kind} check`, () => {
      let now = 0;
      const records = createSessionRecords(() => now);
      const owner = sessionOf("a", 0);
      if (kind !== "slow") records.noteFailed(owner);
      if (kind !== "failed") records.noteSlow(owner);
      const seenAt = (at: number): readonly boolean[] => {
        now = at;
        return [records.isApart(owner), records.isDistrusted(owner)];
      };
      const during = [true, kind !== "slow"];
      assert.deepEqual([seenAt(ms - 1), seenAt(ms), seenAt(ms + 1)], [during, [false, false], [false, false]]);
    });
  }
  for (const [slow, isApart] of [
    [2, false],
    [3, true],
    [4, true],
  ] as const) {
    it(`${isApart ? "keeps" : "does not keep"} a new session apart if its principal has ${slow} slow ones`, () => {
      const records = fill(slow);
      const fresh = sessionOf("a", "fresh");
      assert.deepEqual([records.isApart(fresh), records.isDistrusted(fresh)], [isApart, isApart]);
      assert.equal(records.isApart(sessionOf("b", "fresh")), false);
    });
  }
  it("does not keep a session apart that was checked before, whatever other sessions of its principal do", () => {
    const records = createSessionRecords(() => 0);
    const proven = sessionOf("a", "proven");
    records.noteChecked(proven);
    fill(5, records);
    assert.deepEqual([records.isApart(proven), records.isDistrusted(proven)], [false, false]);
  });
  it("distrusts a session only after a failure", () => {
    const records = createSessionRecords(() => 0);
    const owner = sessionOf("a", 0);
    records.noteSlow(owner);
    assert.equal(records.isDistrusted(owner), false);
    records.noteFailed(owner);
    records.noteSlow(owner);
    assert.equal(records.isDistrusted(owner), true);
  });
  it("remembers 1,024 sessions", () => {
    const first = sessionOf("b", "first");
    for (const [others, isKnown] of [
      [1_023, true],
      [1_024, false],
    ] as const) {
      const records = createSessionRecords(() => 0);
      records.noteSlow(first);
      fill(others, records);
      assert.equal(records.isApart(first), isKnown);
    }
  });
});
