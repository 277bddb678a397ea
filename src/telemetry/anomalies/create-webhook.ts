/**
 * Sends every anomaly in the ledger to the operator's webhook, in order and at least once. Its cursor is in the store, so
 * it continues after a restart.
 */

import type { Instant } from "../../domain/index.ts";
import { openWebhook } from "../../egress/index.ts";
import type { Webhook, WebhookMessage, WebhookOptions } from "../../egress/index.ts";
import { parseDetail } from "../../ledger/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";
import { DAY_MS, MINUTE_MS, pollEvery } from "../../timing/index.ts";
import { ANOMALY_SEEN } from "./open-anomalies.ts";

type Records = Pick<Store, "meta" | "ledger">;

const CURSOR = "anomalies.sent";
/** Older anomalies are not sent. */
const STALE_MS = DAY_MS;
const PAGE = 500;
/** How often it checks on its own, which keeps the cursor near the end of the ledger. */
const POLL_MS = MINUTE_MS;

/** Starts with what an earlier process could not send. */
export function createWebhook({ store, ...options }: WebhookOptions & { readonly store: Records }): Webhook {
  const webhook = openWebhook(options, {
    topic: "anomalies",
    setting: "anomalies.webhook",
    deliver: (post) => deliverAll(store, options.now, (record) => post(toMessage(record))),
  });
  const polling = pollEvery(POLL_MS, async () => webhook.wake());
  webhook.wake();
  return {
    wake: () => webhook.wake(),
    get delivered() {
      return webhook.delivered;
    },
    get failures() {
      return webhook.failures;
    },
    async [Symbol.asyncDispose]() {
      await polling[Symbol.asyncDispose]();
      await webhook[Symbol.asyncDispose]();
    },
  };
}

/** Reads every record once, by number: searching takes longer the longer the ledger is. */
async function deliverAll(
  store: Records,
  now: () => Instant,
  post: (record: StoredRecord) => Promise<void>,
): Promise<void> {
  for (let cursor = await readCursor(store); ;) {
    const page = await store.ledger.read({ from: cursor + 1, limit: PAGE });
    for (const record of page.filter(({ action, at }) => action === ANOMALY_SEEN && now() - at < STALE_MS)) {
      await post(record);
      await store.meta.set(CURSOR, String(record.seq));
    }
    const last = page.at(-1);
    if (last) await store.meta.set(CURSOR, String(last.seq));
    if (!last || page.length < PAGE) return;
    cursor = last.seq;
  }
}

/** Starts at the end of the ledger the first time: anomalies from before the webhook are not sent. */
async function readCursor({ meta, ledger }: Records): Promise<number> {
  const kept = await meta.get(CURSOR);
  if (kept !== undefined) return Number(kept);
  return Number(await meta.claim(CURSOR, String((await ledger.last())?.seq ?? 0)));
}

function toMessage({ seq, subject, at, detail }: StoredRecord): WebhookMessage {
  const data = { record: seq, principal: subject, ...parseDetail(detail) };
  const body = JSON.stringify({ type: ANOMALY_SEEN, timestamp: new Date(at).toISOString(), data });
  return { id: `anomaly-${seq}`, body };
}
