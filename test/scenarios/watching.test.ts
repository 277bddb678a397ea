/** The product with everything that watches it turned on: a real client, real receivers, real records. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { startReceiver } from "../../src/watching/fixtures/receiver.ts";
import { connect } from "./connect.ts";
import { probeWith } from "./observe.ts";
import { makeFolder, runGlovebox, serveFor } from "./product.ts";

const MODERN = { era: "2026-07-28", mode: { pin: "2026-07-28" } } as const;
/** More failures than anybody has in a minute. */
const FAIL_OFTEN =
  'const many = []; for (let i = 0; i < 60; i++) many.push(probe["not" + "hing"]({}).catch(() => 0)); await Promise.all(many); return 1';

test("a burst of failures is recorded, sent to the webhook, signed, and counted", async (context) => {
  await using receiver = await startReceiver();
  const folder = makeFolder(context, {
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
