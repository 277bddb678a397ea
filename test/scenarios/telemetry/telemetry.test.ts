/** The product with all telemetry on: a real client, real receivers, real records. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { startReceiver } from "../../../src/telemetry/fixtures/receiver.ts";
import type { Receiver } from "../../../src/telemetry/fixtures/receiver.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { probeWith } from "../../fixtures/observe-settings.ts";
import { makeUntypedFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";

const MODERN = { era: "2026-07-28", mode: { pin: "2026-07-28" } } as const;
/** More failures than usual in a minute. */
const FAIL_OFTEN =
  'const many = []; for (let i = 0; i < 60; i++) many.push(probe["not" + "hing"]({}).catch(() => 0)); await Promise.all(many); return 1';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code: number };
}

/** All spans that a collector received. */
function readSpans({ received }: Receiver): readonly Span[] {
  const parse = (body: string) => JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return received.flatMap(({ body }) =>
    parse(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

const TRACE = "ab".repeat(16);
const CLIENT_SPAN = "cd".repeat(8);
const TRACED = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01`, tracestate: "vendor=1" };

/** Applies to every call; a tool that is always denied would not be visible at all. */
const NEVER_TOLD = [{ path: "note", equals: "no", not: true, missing: "holds" }];

test("a client's trace continues through the execution and its calls to the upstream and the collector", async (context) => {
  await using collector = await startReceiver();
  const folder = makeUntypedFolder(context, {
    mcpServers: { probe: probeWith() },
    policy: { rules: [{ decision: "deny", tools: ["probe.destroy"], effects: ["destroy"], when: NEVER_TOLD }] },
    traces: { enabled: true, endpoint: `${collector.url}/otlp/`, headers: { "x-key": "k-${secret:KEY}" } },
  });
  await runGlovebox(["secrets", "set", "KEY"], { folder, input: "value" });
  const { mcp } = await serveFor(context, folder);
  const client = await connect(context, mcp, MODERN);
  const code =
    'const { traceparent, tracestate } = await probe.about({ note: "private words" }); try { await probe.destroy({}) } catch {} return { traceparent, tracestate }';
  const answer = await client.callTool({ name: "execute", arguments: { code }, _meta: TRACED });
  const { value, execution } = answer.structuredContent as { value: Record<string, string>; execution: string };
  await collector.until(1);

  const [first] = collector.received;
  assert.deepEqual([first?.path, first?.headers["x-key"]], ["/otlp/v1/traces", "k-value"]);
  const spans = readSpans(collector);
  assert.deepEqual(
    spans.map(({ name, traceId, traceState, status }) => [name, traceId, traceState, status.code]),
    [
      ["probe.about", TRACE, "vendor=1", 1],
      ["probe.destroy", TRACE, "vendor=1", 2],
      ["execute", TRACE, "vendor=1", 1],
    ],
  );
  const [about, destroy, whole] = spans;
  assert.equal(whole?.parentSpanId, CLIENT_SPAN);
  assert.deepEqual([about?.parentSpanId, destroy?.parentSpanId], [whole.spanId, whole.spanId]);
  assert.deepEqual(value, { traceparent: `00-${TRACE}-${about?.spanId}-01`, tracestate: "vendor=1" });
  const attributesOf = (span: Span | undefined): unknown =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value: held }) => [key, Object.values(held)[0]]));
  const probe = { "glovebox.server": "probe" };
  assert.deepEqual(attributesOf(destroy), {
    ...probe,
    "glovebox.tool": "probe.destroy",
    "glovebox.effect": "destroy",
    "glovebox.decision": "deny",
    "glovebox.outcome": "denied",
    "error.type": "POLICY_DENIED",
  });
  const { "glovebox.execution": id, "glovebox.calls": calls } = attributesOf(whole) as Record<string, unknown>;
  assert.deepEqual([id, calls], [execution, "2"]);
  assert.doesNotMatch(JSON.stringify(spans), /private words|local/);
});

test("the environment sets the trace endpoint, unless the configuration does", async (context) => {
  await using named = await startReceiver();
  await using other = await startReceiver();
  const run = async (traces: object): Promise<readonly number[]> => {
    const folder = makeUntypedFolder(context, { mcpServers: {}, traces: { enabled: true, ...traces } });
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: named.url };
    const ran = await runGlovebox(["run", "-"], { folder, input: "return 1", environment });
    assert.equal(ran.code, 0, ran.stderr);
    return [named.received.length, other.received.length];
  };
  assert.deepEqual(await run({}), [1, 0]);
  assert.deepEqual(await run({ endpoint: other.url }), [1, 1]);
});

test("a burst of failures is recorded, sent to the webhook, signed, and counted", async (context) => {
  await using receiver = await startReceiver();
  const folder = makeUntypedFolder(context, {
    mcpServers: { probe: probeWith() },
    analysis: { enabled: false },
    metrics: { enabled: true },
    anomalies: { enabled: true, webhook: { url: `${receiver.url}/hook`, secret: "${secret:HOOK}" } },
  });
  await runGlovebox(["secrets", "set", "HOOK"], { folder, input: "shared with the receiver" });
  const { mcp, url } = await serveFor(context, folder);
  const client = await connect(context, mcp, MODERN);
  const execute = (code: string): Promise<unknown> => client.callTool({ name: "execute", arguments: { code } });
  for (let honest = 0; honest < 5; honest += 1) await execute("return (await probe.echo({ n: 1 })).n");
  await execute(FAIL_OFTEN);
  await receiver.until(1);

  const [alert] = receiver.received;
  assert.ok(alert);
  const { body, headers } = alert;
  const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> };
  const { record, ...seen } = data;
  const burst = { kind: "burst", measure: "failures", measured: 51, usual: 0, limit: 50, windowMs: 60_000 };
  assert.deepEqual([type, seen], ["anomaly.seen", { principal: "local", ...burst }]);
  const signed = `anomaly-${String(record)}.${String(headers["webhook-timestamp"])}.${body}`;
  const signature = createHmac("sha256", "shared with the receiver").update(signed).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);

  const { stdout } = await runGlovebox(["audit", "--action", "anomaly", "--json"], { folder });
  const { records } = JSON.parse(stdout) as { records: { seq: number; subject: string; detail: unknown }[] };
  assert.deepEqual(
    records.map(({ seq, subject, detail }) => [seq, subject, detail]),
    [[record, "local", burst]],
  );
  const metrics = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  for (const line of [
    'glovebox_executions_total{state="completed",code="none"} 6',
    'glovebox_calls_total{server="probe",tool="probe.echo",decision="allow",outcome="ok"} 5',
    'glovebox_calls_total{server="none",tool="none",decision="none",outcome="error"} 60',
    "glovebox_anomalies_total 1",
    'glovebox_upstream_state{server="probe",state="ready"} 1',
  ]) {
    assert.ok(metrics.includes(line), line);
  }
});
