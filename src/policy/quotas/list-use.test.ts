/** What an operator sees of quotas in use. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { QuotaSettings } from "../../domain/index.ts";
import { listUse } from "./list-use.ts";

const NONE = { executionsPerMinute: 0, executionMsPerHour: 0, concurrentExecutions: 0, costPerDay: 0 };
const SETTINGS: QuotaSettings = {
  ...NONE,
  executionsPerMinute: 60,
  costPerDay: 5,
  session: { ...NONE, executionsPerMinute: 40 },
  total: { ...NONE, concurrentExecutions: 8 },
  rates: [{ tools: ["b.*", "a.*"], calls: 20, windowMs: 1_000, per: "principal" }],
  prices: new Map(),
};

test("counters are listed with their quota, whose they are, and when they reset", () => {
  const counts = [
    { key: '["ada","executionsPerMinute"]', startedAt: 100, used: 3 },
    { key: '["ada","costPerDay"]', startedAt: 100, used: 2_500_000 },
    { key: '["ada","rate a.* b.* 1000"]', startedAt: 100, used: 7 },
    { key: '{"quota":"executionsPerMinute","session":["ada","s1"]}', startedAt: 100, used: 1 },
    { key: '[null,"concurrentExecutions"]', used: 2 },
  ];
  assert.deepEqual(listUse(SETTINGS, counts, 200), [
    { setting: "quotas.executionsPerMinute", who: "ada", limit: 60, unit: "executions", used: 3, resetsAt: 60_100 },
    { setting: "quotas.costPerDay", who: "ada", limit: 5, unit: "cost", used: 2.5, resetsAt: 86_400_100 },
    { setting: "quotas.rates[0]", unit: "calls", who: "ada", limit: 20, used: 7, resetsAt: 1_100 },
    {
      setting: "quotas.session.executionsPerMinute",
      who: "one session of ada",
      limit: 40,
      unit: "executions",
      used: 1,
      resetsAt: 60_100,
    },
    { setting: "quotas.total.concurrentExecutions", who: "all principals together", limit: 8, unit: "places", used: 2 },
  ]);
});

test("a window that has ended, an unused counter and an unknown key are left out", () => {
  const key = '["ada","executionsPerMinute"]';
  const list = (one: Parameters<typeof listUse>[1][number], now = 60_099) => listUse(SETTINGS, [one], now).length;
  assert.deepEqual(
    [
      list({ key, startedAt: 100, used: 1 }),
      list({ key, startedAt: 100, used: 1 }, 60_100),
      list({ key, startedAt: 100, used: 0 }),
      list({ key: '["ada","executionMsPerHour"]', startedAt: 100, used: 1 }),
      list({ key: "no JSON", startedAt: 100, used: 1 }),
      list({ key: '["ada","other"]', startedAt: 100, used: 1 }),
    ],
    [1, 0, 0, 0, 0, 0],
  );
});
