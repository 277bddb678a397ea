/**
 * Sends every anomaly in the ledger to the operator's webhook, in order and at least once. Its cursor is in the store, so
 * it continues after a restart.
 */

import { createHmac } from "node:crypto";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { parseDetail } from "../../ledger/index.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS, backoffMs, pollEvery } from "../../timing/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";
import { ANOMALY_SEEN } from "./open-anomalies.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Can reach only the origin of `url`. */
  readonly send: FetchLike;
  /** Called for each attempt, so that a new secret is used at once. */
  readonly resolveSecret: () => Promise<string>;
  readonly store: Pick<Store, "meta" | "ledger">;
  readonly now: () => Instant;
  /** Called with the first of several failures in a row. */
  readonly warn: (thrown: unknown) => unknown;
  /** The pause after the first failure. It doubles up to five minutes. */
  readonly firstPauseMs?: number;
}

export interface Webhook extends AsyncDisposable {
  /** Call it when there may be something to send. Returns at once. */
  wake(): void;
  readonly delivered: number;
  readonly failures: number;
}

const CURSOR = "anomalies.sent";
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;
const SEND_MS = 10_000;
/** How long closing waits for a response. */
const CLOSE_MS = 2_000;
/** Older anomalies are not sent. */
const STALE_MS = DAY_MS;
const PAGE = 500;
/** How often it checks on its own, which keeps the cursor near the end of the ledger. */
const POLL_MS = MINUTE_MS;

/** Starts with what an earlier process could not send. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { warn, firstPauseMs = SECOND_MS } = options;
  const closing = new AbortController();
  let failuresInRow = 0;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    try {
      while (isAwake && !closing.signal.aborted) {
        isAwake = false;
        await deliverAll(options, closing.signal, () => void (webhook.delivered += 1));
        failuresInRow = 0;
      }
    } catch (thrown) {
      if (closing.signal.aborted) return;
      if (failuresInRow === 0) warn(thrown);
      webhook.failures += 1;
      failuresInRow += 1;
      const pauseMs = backoffMs(failuresInRow, { firstMs: firstPauseMs, longestMs: LONGEST_PAUSE_MS });
      timer = setTimeout(() => {
        timer = undefined;
        wake();
      }, pauseMs).unref();
    } finally {
      running = undefined;
    }
  };
  const wake = (): void => {
    isAwake = true;
    if (timer === undefined && !closing.signal.aborted) running ??= run();
  };
  const polling = pollEvery(POLL_MS, async () => wake());
  const webhook = {
    wake,
    delivered: 0,
    failures: 0,
    async [Symbol.asyncDispose]() {
      await polling[Symbol.asyncDispose]();
      clearTimeout(timer);
      const giveUp = setTimeout(() => closing.abort(), CLOSE_MS);
      await running;
      clearTimeout(giveUp);
      closing.abort();
    },
  };
  wake();
  return webhook;
}

/** Reads every record once, by number: searching takes longer the longer the ledger is. */
async function deliverAll(options: WebhookOptions, signal: AbortSignal, onDelivered: () => void): Promise<void> {
  const { store, now } = options;
  for (let cursor = await readCursor(store); ;) {
    const page = await store.ledger.read({ from: cursor + 1, limit: PAGE });
    for (const record of page.filter(({ action, at }) => action === ANOMALY_SEEN && now() - at < STALE_MS)) {
      await post(options, record, signal);
      await store.meta.set(CURSOR, String(record.seq));
      onDelivered();
    }
    const last = page.at(-1);
    if (last) await store.meta.set(CURSOR, String(last.seq));
    if (!last || page.length < PAGE) return;
    cursor = last.seq;
  }
}

/** Starts at the end of the ledger the first time: anomalies from before the webhook are not sent. */
async function readCursor({ meta, ledger }: WebhookOptions["store"]): Promise<number> {
  const kept = await meta.get(CURSOR);
  if (kept !== undefined) return Number(kept);
  return Number(await meta.claim(CURSOR, String((await ledger.last())?.seq ?? 0)));
}

/** Rejects unless the receiver confirms with a 2xx status. */
async function post(options: WebhookOptions, alert: StoredRecord, signal: AbortSignal): Promise<void> {
  const { url, send, now, resolveSecret } = options;
  const data = { record: alert.seq, principal: alert.subject, ...parseDetail(alert.detail) };
  const body = JSON.stringify({ type: ANOMALY_SEEN, timestamp: new Date(alert.at).toISOString(), data });
  const timestamp = Math.floor(now() / 1000);
  const signed = signMessage({ id: `anomaly-${alert.seq}`, timestamp, body }, await resolveSecret());
  const response = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...signed },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
  });
  await response.body?.cancel();
  if (response.ok) return;
  throw new GloveboxError("UPSTREAM_FAILED", `The webhook for anomalies responded with status ${response.status}`, {
    hint: "Check `anomalies.webhook` in the configuration; Glovebox retries automatically",
  });
}

/**
 * Signs a message as Standard Webhooks specifies and returns the three headers. The signature covers the time in
 * seconds, so an old message cannot be replayed as a new one. A secret with the prefix `whsec_` is base64.
 */
export function signMessage(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
  secret: string,
): Readonly<Record<string, string>> {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = encoded === undefined ? secret : Buffer.from(encoded, "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` };
}
