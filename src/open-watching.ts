/** Loads and opens what watches the gateway, and nothing of it while it is off. */

import type { Ledger } from "./audit/index.ts";
import type { Settings } from "./config/index.ts";
import type { Egress } from "./egress/index.ts";
import type { Store } from "./store/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { fillTemplates } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";
import type { Feed } from "./watching/index.ts";
import type { Webhook, WebhookOptions } from "./watching/anomalies/index.ts";
import type { MetricsSources } from "./watching/metrics/index.ts";
import { reportIncident, warnOperator } from "./host-powers.ts";

/** Of an answer that nobody reads. */
const ANSWER_BYTES = 64 * 1024;

/** What watchers work with. */
export interface WatchedParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly vault: Vault;
  readonly egress: Egress;
}

/** What watches, beside the metrics; closed before the rooms that it uses. */
export interface Watchers extends AsyncDisposable {
  /** For the metrics, by the rest of their names. */
  counts(): Readonly<Record<string, number>>;
}

/** `undefined` when nothing is watched: then nobody listens to the ledger. */
export async function openFeed({ metrics, anomalies }: Settings): Promise<Feed | undefined> {
  if (!metrics.enabled && !anomalies.enabled) return undefined;
  const { createFeed } = await import("./watching/index.ts");
  return createFeed({ now: Date.now, report: reportIncident });
}

/** Anomalies and their webhook, as far as they are on. */
export async function openWatchers(
  { anomalies }: Settings,
  feed: Feed | undefined,
  parts: WatchedParts,
): Promise<Watchers> {
  await using opened = new AsyncDisposableStack();
  const counts: (() => Readonly<Record<string, number>>)[] = [];
  if (feed && anomalies.enabled) {
    const { createWebhook, openAnomalies } = await import("./watching/anomalies/index.ts");
    const webhook: Webhook | undefined =
      anomalies.webhook && opened.use(createWebhook(toWebhook(anomalies.webhook, parts)));
    const watch = opened.use(
      await openAnomalies({ ...parts, feed, now: Date.now, onSeen: () => webhook?.wake(), report: reportIncident }),
    );
    counts.push(() => ({ anomalies: watch.seen }));
    if (webhook) counts.push(() => ({ alerts_delivered: webhook.delivered, alert_failures: webhook.failures }));
  }
  const watchers = opened.move();
  return {
    counts: () => Object.assign({}, ...counts.map((count) => count())),
    [Symbol.asyncDispose]: () => watchers.disposeAsync(),
  };
}

/** The operator wrote the address, so it may lie in a private network. */
function toWebhook(
  { url, secret }: NonNullable<Settings["anomalies"]["webhook"]>,
  { store, vault, egress }: WatchedParts,
): WebhookOptions {
  const send = egress.fetchFrom(new URL(url).origin, { maxBytes: ANSWER_BYTES, mayBePrivate: true });
  const resolveSecret = async (): Promise<string> =>
    (await fillTemplates({ secret }, vault, "webhook for anomalies"))["secret"] ?? "";
  return { url, send, resolveSecret, store, now: Date.now, warn: warnOperator };
}

/** The part of a gateway that answers `/metrics`; empty when it is off. */
export async function openMetrics(
  { metrics }: Settings,
  feed: Feed | undefined,
  sources: Omit<MetricsSources, "feed">,
): Promise<Pick<Gateway, "metrics">> {
  if (!feed || !metrics.enabled) return {};
  const { createMetrics } = await import("./watching/metrics/index.ts");
  const created = createMetrics({ ...sources, feed });
  return { metrics: () => created.render() };
}
