/** The metrics after calls and executions, parsed as Prometheus does. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import type { LedgerEntry } from "../../ledger/index.ts";
import { callEntries, endedExecution, executionId, openTelemetryFixture } from "../fixtures/events.ts";
import type { TelemetryFixture } from "../fixtures/events.ts";
import { createMetrics } from "./create-metrics.ts";
import type { Metrics } from "./create-metrics.ts";

function createTestMetrics({ feed }: TelemetryFixture): Metrics {
  const name = parseConnectorId("crm server");
  assert.ok(name);
  return createMetrics({
    feed,
    build: { version: "1" },
    sandbox: () => ({ waiting: 3, busy: 2, idle: 1, residentBytes: 99 }),
    upstreams: () => [{ name, state: "failed", transport: "stdio", tools: 4, since: 0 }],
    checkerStarts: () => 3,
    others: () => ({ spans_dropped: 5 }),
  });
}

const read = (metrics: Metrics, name: string): string[] =>
  metrics
    .render()
    .split("\n")
    .filter((line) => line.startsWith(name));

test("createMetrics counts calls by server, tool, decision and outcome, without made-up names", async () => {
  await using watched = await openTelemetryFixture();
  const metrics = createTestMetrics(watched);
  const write = async (entries: readonly LedgerEntry[]): Promise<void> => {
    for (const entry of entries) await watched.ledger.write(entry);
  };
  await write(callEntries({ seq: 1 }));
  await write(callEntries({ seq: 2 }));
  const flow = [{ label: "private", tool: "a.b", execution: executionId(1), seq: 1 }];
  await write(callEntries({ seq: 3, tool: "crm.send", decision: "deny", outcome: "denied", more: { flow } }));
  await write(callEntries({ seq: 4, outcome: "error", code: "LIMIT_QUOTA" }));
  await write([callEntries({ seq: 5, tool: "evil.name", outcome: "error", code: "TOOL_NOT_FOUND" })[1]]);
  assert.deepEqual(read(metrics, "glovebox_calls_total"), [
    'glovebox_calls_total{server="crm server",tool="crm.read",decision="allow",outcome="ok"} 2',
    'glovebox_calls_total{server="crm server",tool="crm.send",decision="deny",outcome="denied"} 1',
    'glovebox_calls_total{server="crm server",tool="crm.read",decision="allow",outcome="error"} 1',
    'glovebox_calls_total{server="none",tool="none",decision="none",outcome="error"} 1',
  ]);
  assert.deepEqual(read(metrics, "glovebox_flow_decisions_total"), [
    'glovebox_flow_decisions_total{decision="deny"} 1',
  ]);
  assert.deepEqual(read(metrics, "glovebox_quota_refusals_total"), ['glovebox_quota_refusals_total{kind="call"} 1']);
  assert.deepEqual(read(metrics, "glovebox_call_seconds_count"), [
    'glovebox_call_seconds_count{server="crm server"} 4',
    'glovebox_call_seconds_count{server="none"} 1',
  ]);
  assert.deepEqual(read(metrics, "glovebox_ledger_records_total"), ["glovebox_ledger_records_total 9"]);
  assert.doesNotMatch(metrics.render(), /ann|evil/);
});

test("createMetrics counts executions by state and code and measures their time", async () => {
  await using watched = await openTelemetryFixture();
  const metrics = createTestMetrics(watched);
  const error = { code: "LIMIT_QUOTA", message: "m", retry: true } as const;
  const { stats } = endedExecution({})[1];
  watched.feed.ended(...endedExecution({}));
  watched.feed.ended(...endedExecution({}, { state: "failed", error }));
  watched.feed.ended(...endedExecution({}, { state: "failed", error, stats: { ...stats, calls: 1 } }));
  assert.deepEqual(read(metrics, "glovebox_executions_total"), [
    'glovebox_executions_total{state="completed",code="none"} 1',
    'glovebox_executions_total{state="failed",code="LIMIT_QUOTA"} 2',
  ]);
  assert.deepEqual(read(metrics, "glovebox_quota_refusals_total"), [
    'glovebox_quota_refusals_total{kind="execution"} 1',
  ]);
  assert.deepEqual(read(metrics, 'glovebox_execution_seconds_bucket{state="completed",le="0.0'), [
    'glovebox_execution_seconds_bucket{state="completed",le="0.005"} 0',
    'glovebox_execution_seconds_bucket{state="completed",le="0.01"} 0',
    'glovebox_execution_seconds_bucket{state="completed",le="0.025"} 1',
    'glovebox_execution_seconds_bucket{state="completed",le="0.05"} 1',
  ]);
  assert.deepEqual(read(metrics, "glovebox_output_bytes_total"), ["glovebox_output_bytes_total 15"]);
});

test("createMetrics reads gauges when it renders", async () => {
  await using watched = await openTelemetryFixture();
  const metrics = createTestMetrics(watched);
  const lines = metrics.render().split("\n");
  for (const line of [
    'glovebox_build_info{version="1"} 1',
    "glovebox_queue_length 3",
    'glovebox_sandbox_children{state="busy"} 2',
    'glovebox_sandbox_children{state="idle"} 1',
    "glovebox_sandbox_memory_bytes 99",
    'glovebox_upstream_state{server="crm server",state="failed"} 1',
    'glovebox_upstream_tools{server="crm server"} 4',
    "glovebox_checker_restarts_total 2",
    "glovebox_watching_dropped_total 0",
    "glovebox_spans_dropped_total 5",
  ]) {
    assert.ok(lines.includes(line), line);
  }
});
