/** What the settings of traces and anomalies change, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { TestContext } from "node:test";

import { startReceiver } from "../../src/telemetry/fixtures/receiver.ts";
import { probeWith, withGlovebox } from "../fixtures/observe-settings.ts";
import { makeUntypedFolder, runGlovebox } from "../fixtures/product.ts";

/** Runs a program that destroys something. Returns the folder of the configuration. */
async function destroyOnce(context: TestContext, anomalies: object, secret?: string): Promise<string> {
  const config = { mcpServers: { probe: probeWith() }, policy: { profile: "open" }, anomalies };
  const folder = makeUntypedFolder(context, config);
  if (secret !== undefined) await runGlovebox(["secrets", "set", "HOOK"], { folder, input: secret });
  const ran = await runGlovebox(["run", "-"], { folder, input: "await probe.destroy({}); return 1" });
  assert.equal(ran.code, 0, ran.stderr);
  return folder;
}

async function readAnomalies(folder: string): Promise<string> {
  return (await runGlovebox(["audit", "--action", "anomaly", "--json"], { folder })).stdout;
}

/** Remaining data is sent when the gateway closes. */
function traceOnce(traces: object): Promise<unknown> {
  return withGlovebox({ traces }, (glovebox) => glovebox.execute({ code: "return 1" }));
}

export const TELEMETRY_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "anomalies.enabled": async (context) => {
    assert.match(await readAnomalies(await destroyOnce(context, { enabled: true })), /"tool":\s*"probe.destroy"/);
    assert.doesNotMatch(await readAnomalies(await destroyOnce(context, { enabled: false })), /probe/);
  },
  "anomalies.webhook.url": async (context) => {
    await using one = await startReceiver();
    await using other = await startReceiver();
    await destroyOnce(context, { enabled: true, webhook: { url: `${one.url}/a`, secret: "${secret:HOOK}" } }, "s");
    await destroyOnce(context, { enabled: true, webhook: { url: `${other.url}/b`, secret: "${secret:HOOK}" } }, "s");
    assert.deepEqual([one.received.map(({ path }) => path), other.received.map(({ path }) => path)], [["/a"], ["/b"]]);
  },
  "anomalies.webhook.secret": async (context) => {
    await using receiver = await startReceiver();
    const observe = async (secret: string): Promise<boolean> => {
      const webhook = { url: receiver.url, secret: "${secret:HOOK}" };
      await destroyOnce(context, { enabled: true, webhook }, secret);
      const sent = receiver.received.at(-1);
      const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = sent?.headers ?? {};
      const signed = createHmac("sha256", "one").update(`${String(id)}.${String(timestamp)}.${sent?.body ?? ""}`);
      return signature === `v1,${signed.digest("base64")}`;
    };
    assert.deepEqual([await observe("one"), await observe("other")], [true, false]);
  },
  "traces.enabled": async () => {
    await using collector = await startReceiver();
    const observe = async (enabled: boolean): Promise<unknown> => {
      await traceOnce({ enabled, endpoint: collector.url });
      return collector.received.length;
    };
    assert.deepEqual([await observe(false), await observe(true)], [0, 1]);
  },
  "traces.endpoint": async () => {
    await using one = await startReceiver();
    await using other = await startReceiver();
    await traceOnce({ enabled: true, endpoint: one.url });
    await traceOnce({ enabled: true, endpoint: `${other.url}/deep` });
    const paths = [one, other].map(({ received }) => received.map(({ path }) => path));
    assert.deepEqual(paths, [["/v1/traces"], ["/deep/v1/traces"]]);
  },
  "traces.headers": async () => {
    await using collector = await startReceiver();
    await traceOnce({ enabled: true, endpoint: collector.url });
    await traceOnce({ enabled: true, endpoint: collector.url, headers: { "X-Key": "k" } });
    assert.deepEqual(
      collector.received.map(({ headers }) => headers["x-key"]),
      [undefined, "k"],
    );
  },
};
