/** Where the calls of an execution are on its time line. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EXECUTION, createResult } from "../../src/surfaces/mcp/fixtures/memory-gateway.ts";
import type { ExecutionAnswer } from "../../src/surfaces/admin/contract/executions.ts";
import { placeCalls } from "../../web/pages/execution/timeline.ts";

const call = (seq: number, ms: number) =>
  ({ seq, tool: "shop.list", effect: "read", decision: "allow", outcome: "ok", ms }) as const;

function details(over: Partial<ExecutionAnswer>, ...ms: readonly number[]): ExecutionAnswer {
  const calls = ms.map((one, index) => call(index + 1, one));
  const line = { id: EXECUTION, principal: "agent:test", startedAt: 0, endedAt: 100, state: "completed" } as const;
  return { ...line, errorCode: null, result: createResult({ calls }), approvals: [], times: [], ...over };
}

test("calls are placed by their times, and those at once are counted", () => {
  const times = [
    { seq: 1, startedAt: 0, endedAt: 50 },
    { seq: 2, startedAt: 25, endedAt: 100 },
    { seq: 3, startedAt: 50, endedAt: 75 },
  ];
  const { calls, activeMs, waitedMs, atOnce } = placeCalls(details({ times }, 50, 75, 25), 1_000);
  assert.deepEqual(
    calls.map(({ bar }) => [bar?.from, bar?.width]),
    [
      [0, 50],
      [25, 75],
      [50, 25],
    ],
  );
  assert.deepEqual([activeMs, waitedMs, atOnce], [100, 0, 2]);
});

test("a wait for a person takes a tenth of the line, however long it was", () => {
  const times = [
    { seq: 1, startedAt: 0, endedAt: 50 },
    { seq: 2, startedAt: 50, endedAt: 10_100 },
  ];
  const asked = { id: "ap_1", seq: 2, tool: "shop.pay", state: "approved", reason: "money" } as const;
  const approvals = [{ ...asked, createdAt: 50, decidedAt: 10_050 }];
  const shown = placeCalls(details({ times, approvals, endedAt: 10_100 }, 50, 10_050), 20_000);
  assert.deepEqual([shown.activeMs, shown.waitedMs], [100, 10_000]);
  const [first, second] = shown.calls;
  assert.ok(first?.bar && second?.bar && second.wait);
  assert.ok(Math.abs(first.bar.width - 50 / 1.1) < 0.01);
  assert.ok(Math.abs(second.wait.width - 10 / 1.1) < 0.01);
  assert.ok(Math.abs(second.bar.from - 60 / 1.1) < 0.01);
});

test("calls without a time in the ledger have no place, and a running one grows until now", () => {
  assert.equal(placeCalls(details({}, 5), 1_000).calls[0]?.bar, undefined);
  const open = details({ endedAt: null, times: [{ seq: 1, startedAt: 0 }] }, 0);
  assert.deepEqual(placeCalls(open, 400).calls[0]?.bar, { from: 0, width: 100 });
});
