/**
 * Sends spans to a collector in batches, one request at a time. The queue is bounded and never blocks: spans that do not
 * fit, or fail three times, are dropped and counted.
 */

import { SECOND_MS, backoffMs } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";

export interface SpanExporterOptions {
  /** The full URL, `…/v1/traces`. */
  readonly url: string;
  readonly send: FetchLike;
  /** Called once, and again after a failed attempt. */
  readonly resolveHeaders: () => Promise<Readonly<Record<string, string>>>;
  /** Returns the request body of a batch. */
  readonly wrap: (spans: readonly JsonObject[]) => JsonObject;
  /** Called with the first of several failures in a row. */
  readonly warn: (thrown: unknown) => unknown;
  /** The batching delay, which doubles with each failure. */
  readonly delayMs?: number;
}

export interface SpanExporter extends AsyncDisposable {
  /** Returns at once. */
  add(span: JsonObject): void;
  readonly exported: number;
  readonly dropped: number;
}

export const MAX_QUEUED = 2_048;
const BATCH = 512;
/** The delay grows up to this factor, so that a collector that is down is tried about once a minute. */
const MAX_DELAY_FACTOR = 64;
const ATTEMPTS = 3;
const SEND_MS = 10_000;
/** How long closing waits for the last batch. */
const CLOSE_MS = 2_000;

/** Disposing it tries once, for a short time, to send the rest. */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { warn, delayMs = SECOND_MS } = options;
  const post = createPost(options);
  const closing = new AbortController();
  const inRow = { failures: 0 };
  let queue: JsonObject[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const attempt = async (batch: readonly JsonObject[]): Promise<void> => {
    try {
      await post(batch, closing.signal);
      exporter.exported += batch.length;
      inRow.failures = 0;
    } catch (thrown) {
      if (inRow.failures === 0) warn(thrown);
      inRow.failures += 1;
      if (inRow.failures % ATTEMPTS === 0 || closing.signal.aborted) exporter.dropped += batch.length;
      else queue = [...batch, ...queue];
    }
  };
  const flush = (): void => {
    timer = undefined;
    if (queue.length === 0) return;
    running ??= attempt(queue.splice(0, BATCH)).finally(() => {
      running = undefined;
      schedule();
    });
  };
  const schedule = (): void => {
    if (queue.length === 0 || running || closing.signal.aborted) return;
    const range = { firstMs: delayMs, longestMs: delayMs * MAX_DELAY_FACTOR };
    timer ??= setTimeout(flush, backoffMs(inRow.failures + 1, range)).unref();
  };

  const exporter = {
    exported: 0,
    dropped: 0,
    add(span: JsonObject) {
      if (queue.length < MAX_QUEUED) queue.push(span);
      else exporter.dropped += 1;
      schedule();
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      const giveUp = setTimeout(() => closing.abort(), CLOSE_MS);
      await running;
      clearTimeout(timer);
      while (queue.length > 0 && inRow.failures === 0) await attempt(queue.splice(0, BATCH));
      clearTimeout(giveUp);
      closing.abort();
      exporter.dropped += queue.splice(0).length;
    },
  };
  return exporter;
}

/** Rejects unless the collector accepted the batch. */
function createPost({ url, send, resolveHeaders, wrap }: SpanExporterOptions) {
  let headers: Promise<Readonly<Record<string, string>>> | undefined;
  return async (batch: readonly JsonObject[], closing: AbortSignal): Promise<void> => {
    try {
      headers ??= resolveHeaders();
      const response = await send(url, {
        method: "POST",
        headers: { ...(await headers), "content-type": "application/json" },
        body: JSON.stringify(wrap(batch)),
        signal: AbortSignal.any([closing, AbortSignal.timeout(SEND_MS)]),
      });
      await response.body?.cancel();
      if (response.ok) return;
      throw new GloveboxError("UPSTREAM_FAILED", `The trace collector responded with status ${response.status}`, {
        hint: "Check `traces.endpoint` and `traces.headers` in the configuration; executions are not affected",
      });
    } catch (thrown) {
      headers = undefined;
      throw thrown;
    }
  };
}
