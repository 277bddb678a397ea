/**
 * Sends spans to a collector in batches, one request at a time. The queue is bounded and nobody ever waits for it:
 * what does not fit, or is refused three times, is dropped and counted.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";

export interface SpanExporterOptions {
  /** The whole address, `…/v1/traces`. */
  readonly url: string;
  readonly send: FetchLike;
  /** Asked once, and again after an attempt that failed. */
  readonly resolveHeaders: () => Promise<Readonly<Record<string, string>>>;
  /** The body for a batch. */
  readonly wrap: (spans: readonly JsonObject[]) => JsonObject;
  /** Hears of the first failure in a row. */
  readonly warn: (thrown: unknown) => unknown;
  /** How long spans gather, and the first pause after a failure. Tests make it shorter. */
  readonly paceMs?: number;
}

export interface SpanExporter extends AsyncDisposable {
  /** Returns at once. */
  add(span: JsonObject): void;
  readonly exported: number;
  readonly dropped: number;
}

export const MOST_QUEUED = 2_048;
const BATCH = 512;
const PACE_MS = 1_000;
const ATTEMPTS = 3;
const SEND_MS = 10_000;
/** How long the end of the gateway waits for the last batch. */
const CLOSE_MS = 2_000;

/** Disposing it tries to send what is left, once and not for long. */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { warn, paceMs = PACE_MS } = options;
  const post = createPost(options);
  const closing = new AbortController();
  const counts = { exported: 0, dropped: 0, failures: 0 };
  let queue: JsonObject[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const attempt = async (batch: readonly JsonObject[]): Promise<void> => {
    try {
      await post(batch, closing.signal);
      counts.exported += batch.length;
      counts.failures = 0;
    } catch (thrown) {
      if (counts.failures === 0) warn(thrown);
      counts.failures += 1;
      if (counts.failures % ATTEMPTS === 0 || closing.signal.aborted) counts.dropped += batch.length;
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
  /** After failures the pause grows, so that a collector that is down is asked about once in a minute. */
  const schedule = (): void => {
    if (queue.length === 0 || running || closing.signal.aborted) return;
    timer ??= setTimeout(flush, paceMs * 2 ** Math.min(counts.failures, 6));
    timer.unref();
  };

  return {
    add(span) {
      if (queue.length < MOST_QUEUED) queue.push(span);
      else counts.dropped += 1;
      schedule();
    },
    get exported() {
      return counts.exported;
    },
    get dropped() {
      return counts.dropped;
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      const giveUp = setTimeout(() => closing.abort(), CLOSE_MS);
      await running;
      clearTimeout(timer);
      while (queue.length > 0 && counts.failures === 0) await attempt(queue.splice(0, BATCH));
      clearTimeout(giveUp);
      closing.abort();
      counts.dropped += queue.splice(0).length;
    },
  };
}

/** Rejects unless the collector took the batch. */
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
      if (!response.ok) throw refused(response.status);
    } catch (thrown) {
      headers = undefined;
      throw thrown;
    }
  };
}

function refused(status: number): GloveboxError {
  return new GloveboxError("UPSTREAM_FAILED", `The collector of traces answered with ${status}`, {
    hint: "Look at traces.endpoint and traces.headers in the configuration; executions are not affected",
  });
}
