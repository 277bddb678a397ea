/** Loads and opens what watches the gateway, and nothing of it while it is off. */

import { randomBytes } from "node:crypto";

import type { Ledger } from "./ledger/index.ts";
import type { Catalog } from "./catalog/index.ts";
import type { Checker } from "./checker/index.ts";
import type { Settings } from "./config/index.ts";
import { GloveboxError } from "./domain/index.ts";
import type { Egress } from "./egress/index.ts";
import type { Sandbox } from "./sandbox/index.ts";
import type { Store } from "./store/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { resolveTemplates } from "./connectors/index.ts";
import type { Vault } from "./vault/index.ts";
import type { Feed } from "./telemetry/index.ts";
import type { Webhook, WebhookOptions } from "./telemetry/anomalies/index.ts";
import type { Traces } from "./telemetry/traces/index.ts";
import { reportIncident, warnOperator } from "./host-powers.ts";

/** Of an answer that nobody reads. */
const ANSWER_BYTES = 64 * 1024;

/** What watchers work with. */
export interface WatchedParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly vault: Vault;
  readonly egress: Egress;
  readonly version: string;
}

/** What watches, beside the metrics; closed before the rooms that it uses. */
export interface Watchers extends AsyncDisposable {
  /** For the metrics, by the rest of their names. */
  counts(): Readonly<Record<string, number>>;
  /** Absent when nobody watches. */
  readonly feed?: Feed;
  readonly traces?: Traces;
}

/** `undefined` when nothing is watched: then nobody listens to the ledger. */
export async function openFeed({ metrics, traces, anomalies }: Settings): Promise<Feed | undefined> {
  if (!metrics.enabled && !traces.enabled && !anomalies.enabled) return undefined;
  const { createFeed } = await import("./telemetry/index.ts");
  return createFeed({ now: Date.now, report: reportIncident });
}

/** Traces, and anomalies with their webhook, as far as they are on. */
export async function openWatchers(
  { anomalies, traces: wanted }: Settings,
  feed: Feed | undefined,
  parts: WatchedParts,
): Promise<Watchers> {
  await using opened = new AsyncDisposableStack();
  const counts: (() => Readonly<Record<string, number>>)[] = [];
  if (feed && anomalies.enabled) {
    const { createWebhook, openAnomalies } = await import("./telemetry/anomalies/index.ts");
    const webhook: Webhook | undefined =
      anomalies.webhook && opened.use(createWebhook(toWebhook(anomalies.webhook, parts)));
    const watch = opened.use(
      await openAnomalies({ ...parts, feed, now: Date.now, onSeen: () => webhook?.wake(), report: reportIncident }),
    );
    counts.push(() => ({ anomalies: watch.seen }));
    if (webhook) counts.push(() => ({ alerts_delivered: webhook.delivered, alert_failures: webhook.failures }));
  }
  const traces = feed && wanted.enabled ? opened.use(await openTracesOf(wanted, feed, parts)) : undefined;
  if (traces) counts.push(() => ({ spans_exported: traces.exported, spans_dropped: traces.dropped }));
  const watchers = opened.move();
  return {
    ...(feed && { feed }),
    ...(traces && { traces }),
    counts: () => Object.assign({}, ...counts.map((count) => count())),
    [Symbol.asyncDispose]: () => watchers.disposeAsync(),
  };
}

/** Where collectors listen unless they are told otherwise. */
const USUAL_COLLECTOR = "http://127.0.0.1:4318";

/** The configuration counts before the environment. */
async function openTracesOf(wanted: Settings["traces"], feed: Feed, { egress, vault, version }: WatchedParts) {
  const { openTraces } = await import("./telemetry/traces/index.ts");
  const base = wanted.endpoint ?? process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? USUAL_COLLECTOR;
  const url = `${base.replace(/\/+$/, "")}/v1/traces`;
  if (!URL.canParse(url)) {
    throw new GloveboxError("CONFIG_INVALID", "OTEL_EXPORTER_OTLP_ENDPOINT is no URL", {
      hint: "Correct it, or write traces.endpoint into the configuration",
    });
  }
  return openTraces({
    feed,
    version,
    url,
    send: egress.fetchFrom(new URL(url).origin, { maxBytes: ANSWER_BYTES, mayBePrivate: true }),
    resolveHeaders: () => resolveTemplates(wanted.headers, vault, "traces"),
    createTraceId: () => randomBytes(16).toString("hex"),
    warn: warnOperator,
  });
}

/** The operator wrote the address, so it may lie in a private network. */
function toWebhook(
  { url, secret }: NonNullable<Settings["anomalies"]["webhook"]>,
  { store, vault, egress }: WatchedParts,
): WebhookOptions {
  const send = egress.fetchFrom(new URL(url).origin, { maxBytes: ANSWER_BYTES, mayBePrivate: true });
  const resolveSecret = async (): Promise<string> =>
    (await resolveTemplates({ secret }, vault, "webhook for anomalies"))["secret"] ?? "";
  return { url, send, resolveSecret, store, now: Date.now, warn: warnOperator };
}

/** What metrics are read from. */
export interface MeasuredParts {
  readonly version: string;
  readonly watchers: Watchers;
  readonly sandbox: Sandbox;
  readonly catalog: Catalog;
  readonly checker: Checker;
}

/** The part of a gateway that answers `/metrics`; empty when it is off. */
export async function openMetrics({ metrics }: Settings, parts: MeasuredParts): Promise<Pick<Gateway, "metrics">> {
  const { version, watchers, sandbox, catalog, checker } = parts;
  const { feed } = watchers;
  if (!feed || !metrics.enabled) return {};
  const { createMetrics } = await import("./telemetry/metrics/index.ts");
  const { engine, isolation } = sandbox;
  const created = createMetrics({
    feed,
    build: { version, engine, isolation },
    sandbox: () => sandbox.load(),
    upstreams: () => catalog.statuses(),
    checkerStarts: () => checker.stats().starts,
    others: () => watchers.counts(),
  });
  return { metrics: () => created.render() };
}
