/** Sends messages to an operator's webhook: signed, with growing pauses after failures, never in the way of the caller. */

import { createHmac } from "node:crypto";

import { GloveboxError } from "../domain/index.ts";
import type { Instant } from "../domain/index.ts";
import { MINUTE_MS, SECOND_MS, backoffMs } from "../timing/index.ts";
import type { FetchLike } from "./egress.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Can reach only the origin of `url`. */
  readonly send: FetchLike;
  /** Called for each attempt, so that a new secret is used at once. Without a secret messages are not signed. */
  readonly resolveSecret: () => Promise<string | undefined>;
  readonly now: () => Instant;
  /** Called with the first of several failures in a row. */
  readonly warn: (thrown: unknown) => unknown;
  /** The pause after the first failure. It doubles up to five minutes. */
  readonly firstPauseMs?: number;
}

export interface WebhookMessage {
  /** The same for each attempt. */
  readonly id: string;
  readonly body: string;
}

/** What is sent, and what the setting is called. */
export interface WebhookSource {
  /** What the webhook is for, such as `anomalies`. */
  readonly topic: string;
  readonly setting: string;
  /** Sends what waits. Rejects if `post` does; then it is called again after a pause. */
  readonly deliver: (post: (message: WebhookMessage) => Promise<void>) => Promise<void>;
}

export interface Webhook extends AsyncDisposable {
  /** Call it when there may be something to send. Returns at once. */
  wake(): void;
  readonly delivered: number;
  readonly failures: number;
}

const LONGEST_PAUSE_MS = 5 * MINUTE_MS;
const SEND_MS = 10_000;
/** How long closing waits for a response. */
const CLOSE_MS = 2_000;

export function openWebhook(options: WebhookOptions, source: WebhookSource): Webhook {
  const { warn, firstPauseMs = SECOND_MS } = options;
  const closing = new AbortController();
  let failuresInRow = 0;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const postOne = async (message: WebhookMessage): Promise<void> => {
    await post(options, source, message, closing.signal);
    webhook.delivered += 1;
  };
  const run = async (): Promise<void> => {
    try {
      while (isAwake && !closing.signal.aborted) {
        isAwake = false;
        await source.deliver(postOne);
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
  const webhook = {
    wake,
    delivered: 0,
    failures: 0,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      const giveUp = setTimeout(() => closing.abort(), CLOSE_MS);
      await running;
      clearTimeout(giveUp);
      closing.abort();
    },
  };
  return webhook;
}

/** Rejects unless the receiver confirms with a 2xx status. */
async function post(
  { url, send, now, resolveSecret }: WebhookOptions,
  { topic, setting }: WebhookSource,
  { id, body }: WebhookMessage,
  signal: AbortSignal,
): Promise<void> {
  const timestamp = Math.floor(now() / 1000);
  const signed = signMessage({ id, timestamp, body }, await resolveSecret());
  const hint = `Check \`${setting}\` in the configuration; Glovebox retries automatically`;
  const response = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...signed },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
  }).catch((thrown: unknown) => {
    if (thrown instanceof GloveboxError) throw thrown;
    throw new GloveboxError("UPSTREAM_UNREACHABLE", `The webhook for ${topic} did not respond`, {
      hint,
      cause: thrown,
    });
  });
  await response.body?.cancel();
  if (response.ok) return;
  throw new GloveboxError("UPSTREAM_FAILED", `The webhook for ${topic} responded with status ${response.status}`, {
    hint,
  });
}

/**
 * Signs a message as Standard Webhooks specifies and returns the headers. The signature covers the time in seconds, so
 * an old message cannot be replayed as a new one. A secret with the prefix `whsec_` is base64.
 */
export function signMessage(
  { id, timestamp, body }: WebhookMessage & { readonly timestamp: number },
  secret: string | undefined,
): Readonly<Record<string, string>> {
  const named = { "webhook-id": id, "webhook-timestamp": String(timestamp) };
  if (secret === undefined) return named;
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = encoded === undefined ? secret : Buffer.from(encoded, "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { ...named, "webhook-signature": `v1,${signature}` };
}
