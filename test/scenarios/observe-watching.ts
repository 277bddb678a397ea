/** What the settings of metrics, traces and anomalies change, for `test/settings.test.ts`. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { probeWith } from "./observe.ts";
import { makeFolder, serveFor } from "./product.ts";

async function readMetrics(context: TestContext, metrics: object): Promise<readonly [number, boolean]> {
  const { url } = await serveFor(context, makeFolder(context, { mcpServers: { probe: probeWith() }, metrics }));
  const answer = await fetch(`${url}/metrics`);
  const text = await answer.text();
  return [answer.status, text.includes('glovebox_upstream_state{server="probe",state="ready"} 1\n')];
}

export const WATCHING_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "metrics.enabled": async (context) => {
    assert.deepEqual(await readMetrics(context, { enabled: true }), [200, true]);
    assert.deepEqual(await readMetrics(context, { enabled: false }), [404, false]);
  },
};
