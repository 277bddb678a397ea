/**
 * Sends every anomaly of the ledger to the operator's own address, in order and at least once: how far it came is kept
 * in the store, so a restart goes on where the last process stopped.
 */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Instant, Json } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";
import { ANOMALY_SEEN } from "./open-anomalies.ts";
import { signMessage } from "./sign.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Can reach the origin of `url` and nothing else. */
  readonly send: FetchLike;
  /** Asked for each attempt, so that a secret that was set anew is used at once. */
  readonly resolveSecret: () => Promise<string>;
  readonly store: Pick<Store, "meta" | "ledger">;
  readonly now: () => Instant;
  /** Hears of the first failure in a row. */
  readonly warn: (thrown: unknown) => unknown;
  /** The pause after a failure; it doubles up to five minutes. Tests make it shorter. */
  readonly firstPauseMs?: number;
}

export interface Webhook extends AsyncDisposable {
  /** There may be something to send. Returns at once. */
  wake(): void;
  readonly delivered: number;
  readonly failures: number;
}

const CURSOR = "anomalies.sent";
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const SEND_MS = 10_000;
/** How long the end of the gateway waits for an answer that is on its way. */
const CLOSE_MS = 2_000;
/** What is older helps nobody any more. */
const STALE_MS = 24 * 3_600_000;
const PAGE = 500;
/** So often it looks on its own, which keeps the way to the end of the ledger short. */
const LOOK_MS = 60_000;

interface WebhookState {
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  isAwake: boolean;
  failuresInRow: number;
  delivered: number;
  failures: number;
}

/** Begins with what an earlier process could not send. */
export function createWebhook(options: WebhookOptions): Webhook {
  const { warn, firstPauseMs = FIRST_PAUSE_MS } = options;
  const closing = new AbortController();
  const state: WebhookState = {
    timer: undefined,
    running: undefined,
    isAwake: false,
    failuresInRow: 0,
    delivered: 0,
    failures: 0,
  };

  const run = async (): Promise<void> => {
    try {
      while (state.isAwake && !closing.signal.aborted) {
        state.isAwake = false;
        await deliverAll(options, closing.signal, () => void (state.delivered += 1));
        state.failuresInRow = 0;
      }
    } catch (thrown) {
      if (closing.signal.aborted) return;
      if (state.failuresInRow === 0) warn(thrown);
      state.failures += 1;
      state.timer = setTimeout(retry, Math.min(firstPauseMs * 2 ** state.failuresInRow, LONGEST_PAUSE_MS));
      state.timer.unref();
      state.failuresInRow += 1;
    } finally {
      state.running = undefined;
    }
  };
  const retry = (): void => {
    state.timer = undefined;
    wake();
  };
  const wake = (): void => {
    state.isAwake = true;
    if (state.timer === undefined && !closing.signal.aborted) state.running ??= run();
  };
  const looking = setInterval(wake, LOOK_MS);
  looking.unref();
  wake();

  return {
    wake,
    get delivered() {
      return state.delivered;
    },
    get failures() {
      return state.failures;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(looking);
      clearTimeout(state.timer);
      const giveUp = setTimeout(() => closing.abort(), CLOSE_MS);
      await state.running;
      clearTimeout(giveUp);
      closing.abort();
    },
  };
}

/** Every record is looked at once, by its number: searching the ledger would take longer the longer it is. */
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

/** The first time it begins at the end: nobody wants to hear now of what was seen before there was a webhook. */
async function readCursor({ meta, ledger }: WebhookOptions["store"]): Promise<number> {
  const kept = await meta.get(CURSOR);
  if (kept !== undefined) return Number(kept);
  return Number(await meta.claim(CURSOR, String((await ledger.last())?.seq ?? 0)));
}

/** Rejects unless the receiver says that it has it. */
async function post(options: WebhookOptions, alert: StoredRecord, signal: AbortSignal): Promise<void> {
  const { url, send, now, resolveSecret } = options;
  const body = toBody(alert);
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
  throw new GloveboxError("UPSTREAM_FAILED", `The webhook for anomalies answered with ${response.status}`, {
    hint: "Look at anomalies.webhook in the configuration; Glovebox tries again by itself",
  });
}

function toBody({ seq, at, subject, detail }: StoredRecord): string {
  const parsed = parseDetail(detail);
  const data = { record: seq, principal: subject, ...(isJsonObject(parsed) && parsed) };
  return JSON.stringify({ type: ANOMALY_SEEN, timestamp: new Date(at).toISOString(), data });
}

/** Our own record; one that was damaged still tells whom it is about. */
function parseDetail(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
