/** What was used, from records. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../domain/index.ts";
import type { LedgerLine } from "./gateway.ts";
import { sumUsage } from "./sum-usage.ts";

type Entry = readonly [seq: number, at: number, action: string, subject: string, detail: JsonObject];

const line = (...[seq, at, action, subject, detail]: Entry): LedgerLine => {
  const chain = { previous: "sha256:a", digest: "sha256:b" };
  return { seq, at, action, subject, detail, actor: "local", ...chain };
};

/** Newest first, as the ledger answers. */
function search(all: readonly LedgerLine[]): Parameters<typeof sumUsage>[0] {
  return async ({ limit, before = Infinity, since = 0, until = Infinity }) =>
    all
      .toSorted((a, b) => b.seq - a.seq)
      .filter(({ seq, at }) => seq < before && at >= since && at <= until)
      .slice(0, limit);
}

test("executions, calls, errors, times and characters are summed in buckets and by tool", async () => {
  const records = [
    line(1, 5, "call.ended", "a.old", { outcome: "ok", ms: 1 }),
    line(2, 10, "call.ended", "a.list", { outcome: "ok", ms: 4, size: 1_000 }),
    line(3, 11, "execution.closed", "ex_1", { state: "completed", wallMs: 40, output: 60 }),
    line(4, 29, "call.ended", "a.list", { outcome: "error", ms: 8 }),
    line(5, 29, "approval.requested", "ap_1", {}),
    line(6, 30, "execution.closed", "ex_2", { state: "failed", wallMs: 20 }),
    line(7, 30, "anomaly.seen", "ada", { kind: "burst" }),
  ];
  const usage = await sumUsage(search(records), { since: 10, until: 30, buckets: 2 });
  const { totals, buckets, tools, toolCount, anomalies, isCut } = usage;
  assert.deepEqual(totals, {
    executions: 2,
    failed: 1,
    calls: 2,
    callErrors: 1,
    asked: 1,
    readCharacters: 1_000,
    returnedCharacters: 60,
    p50Ms: 40,
    p95Ms: 40,
  });
  assert.deepEqual(
    buckets.map(({ at, executions, failed, calls }) => [at, executions, failed, calls]),
    [
      [10, 1, 0, 1],
      [20, 1, 1, 1],
    ],
  );
  assert.deepEqual([tools, toolCount, isCut], [[{ tool: "a.list", calls: 2, errors: 1, p95Ms: 8 }], 1, false]);
  assert.deepEqual(anomalies, [{ seq: 7, at: 30, kind: "burst", subject: "ada", detail: { kind: "burst" } }]);
});

test("a ledger of several pages is read whole, and one without records gives zeros", async () => {
  const many = Array.from({ length: 4_500 }, (_, index) => line(index + 1, index, "call.ended", "a.b", { ms: 1 }));
  assert.equal((await sumUsage(search(many), { since: 0, until: 5_000, buckets: 4 })).totals.calls, 4_500);
  const none = await sumUsage(search([]), { since: 0, until: 10, buckets: 1 });
  assert.deepEqual([none.totals.p95Ms, none.tools], [0, []]);
});
