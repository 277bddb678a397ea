/** Alerts reach a real receiver signed, in order and at least once, after failures and restarts too. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { openEgress } from "../../egress/index.ts";
import type { Webhook } from "../../egress/index.ts";
import { openTelemetryFixture } from "../fixtures/events.ts";
import type { TelemetryFixture } from "../fixtures/events.ts";
import { startReceiver } from "../fixtures/receiver.ts";
import type { Received, Receiver } from "../fixtures/receiver.ts";
import { createWebhook } from "./create-webhook.ts";

const SECRET = "a secret of the operator";

interface Setting {
  readonly watched: TelemetryFixture;
  readonly receiver: Receiver;
  readonly warnings?: unknown[];
  readonly secrets?: string[];
}

/** Returns once the webhook has read to the end of the ledger. */
async function openWebhook({ watched, receiver, warnings = [], secrets = [] }: Setting): Promise<Webhook> {
  const egress = openEgress();
  const webhook = createWebhook({
    url: `${receiver.url}/hook?team=1`,
    send: egress.fetchFrom(receiver.url, { maxBytes: 1_000, mayBePrivate: true }),
    resolveSecret: async () => secrets.shift() ?? SECRET,
    store: watched.store,
    now: () => watched.clock.now,
    warn: (thrown) => warnings.push(thrown),
    firstPauseMs: 20,
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  return webhook;
}

async function seeAnomaly({ ledger }: TelemetryFixture, tool: string): Promise<number> {
  const detail = { kind: "firstUse", tool };
  return (await ledger.write({ actor: "gateway", action: "anomaly.seen", subject: "ann", detail })).seq;
}

const bodyOf = ({ body }: Received): { readonly data: { readonly record: number; readonly tool: string } } =>
  JSON.parse(body) as { data: { record: number; tool: string } };
const toolsOf = (receiver: Receiver): readonly string[] => receiver.received.map((one) => bodyOf(one).data.tool);

async function untilDelivered(webhook: Webhook, count: number): Promise<void> {
  while (webhook.delivered < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("createWebhook sends a signed POST for each new anomaly", async () => {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  await seeAnomaly(watched, "crm.before");
  await using webhook = await openWebhook({ watched, receiver });
  await watched.ledger.write({ actor: "ann", action: "call.ended", subject: "crm.read", detail: {} });
  const record = await seeAnomaly(watched, "crm.drop");
  webhook.wake();
  await untilDelivered(webhook, 1);
  const [first] = receiver.received;
  assert.ok(first);
  const { body, headers, path } = first;
  assert.equal(path, "/hook?team=1");
  assert.deepEqual(JSON.parse(body), {
    type: "anomaly.seen",
    timestamp: "1970-01-01T00:16:40.000Z",
    data: { record, principal: "ann", kind: "firstUse", tool: "crm.drop" },
  });
  const expected = createHmac("sha256", SECRET).update(`anomaly-${record}.1000.${body}`).digest("base64");
  assert.deepEqual(
    [headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], headers["content-type"]],
    [`anomaly-${record}`, "1000", `v1,${expected}`, "application/json"],
  );
  assert.equal(receiver.received.length, 1);
});

test("createWebhook retries in order until accepted and warns once", async () => {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  const warnings: unknown[] = [];
  await using webhook = await openWebhook({ watched, receiver, warnings });
  receiver.status = 503;
  await seeAnomaly(watched, "crm.one");
  await seeAnomaly(watched, "crm.two");
  webhook.wake();
  await receiver.until(3);
  receiver.status = 204;
  await untilDelivered(webhook, 2);
  const tools = toolsOf(receiver);
  assert.deepEqual(
    [tools.slice(0, 3), tools.at(-2), tools.at(-1)],
    [["crm.one", "crm.one", "crm.one"], "crm.one", "crm.two"],
  );
  assert.equal(warnings.length, 1);
  assert.ok(webhook.failures >= 3);
});

test("createWebhook sends once what an earlier process could not send", async () => {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  const first = await openWebhook({ watched, receiver });
  await seeAnomaly(watched, "crm.one");
  first.wake();
  await untilDelivered(first, 1);
  receiver.status = 500;
  await seeAnomaly(watched, "crm.two");
  first.wake();
  await receiver.until(2);
  await first[Symbol.asyncDispose]();
  const before = receiver.received.length;
  receiver.status = 200;
  await using second = await openWebhook({ watched, receiver });
  await untilDelivered(second, 1);
  assert.deepEqual(toolsOf(receiver).slice(before), ["crm.two"]);
});

test("createWebhook skips an anomaly that is a day old and sends a slightly younger one", async () => {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  await using webhook = await openWebhook({ watched, receiver });
  await seeAnomaly(watched, "crm.old");
  watched.clock.now += 1;
  await seeAnomaly(watched, "crm.young");
  watched.clock.now += 24 * 3_600_000 - 1;
  webhook.wake();
  await untilDelivered(webhook, 1);
  assert.deepEqual(toolsOf(receiver), ["crm.young"]);
});

test("createWebhook closes although the receiver never answers", { timeout: 20_000 }, async () => {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  const webhook = await openWebhook({ watched, receiver });
  receiver.status = undefined;
  await seeAnomaly(watched, "crm.drop");
  webhook.wake();
  await receiver.until(1);
  await webhook[Symbol.asyncDispose]();
  assert.equal(webhook.delivered, 0);
});
