/** Loads and opens metrics, traces and anomalies, as far as the settings turn them on, and loads nothing of the rest. */

import type { Ledger } from "../ledger/index.ts";
import { GloveboxError, defined } from "../domain/index.ts";
import type { Instant, SecretTemplate } from "../domain/index.ts";
import type { Egress } from "../egress/index.ts";
import type { Store } from "../store/index.ts";

import type { Feed } from "./feed.ts";
import type { MetricsSources } from "./metrics/create-metrics.ts";
import type { Traces } from "./traces/open-traces.ts";

/** Of a response whose body is not used. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Where collectors listen by default. */
const DEFAULT_COLLECTOR = "http://127.0.0.1:4318";

type Templates = Readonly<Record<string, SecretTemplate>>;

export interface TelemetrySettings {
  readonly metrics: { readonly enabled: boolean };
  readonly traces: { readonly enabled: boolean; readonly endpoint: string | undefined; readonly headers: Templates };
  readonly anomalies: {
    readonly enabled: boolean;
    readonly webhook?: { readonly url: string; readonly secret: SecretTemplate };
  };
}

export interface TelemetryOptions {
  readonly settings: TelemetrySettings;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly egress: Pick<Egress, "fetchFrom">;
  readonly version: string;
  /** The endpoint of OTEL_EXPORTER_OTLP_ENDPOINT. The configuration takes precedence. */
  readonly collector: string | undefined;
  readonly resolveTemplates: (templates: Templates, purpose: string) => Promise<Readonly<Record<string, string>>>;
  readonly createTraceId: () => string;
  readonly now: () => Instant;
  readonly report: (thrown: unknown) => unknown;
  readonly warn: (thrown: unknown) => void;
}

/** Traces and anomalies. Close it before the ledger and the egress that it uses. */
export interface Telemetry extends AsyncDisposable {
  /** Absent when everything is off. */
  readonly feed?: Feed;
  readonly traces?: Traces;
  /** Opens the text that `/metrics` serves; `undefined` when metrics are off. */
  openMetrics(sources: Omit<MetricsSources, "feed" | "others">): Promise<(() => string) | undefined>;
}

/** Returns `undefined` when everything is off: then nothing listens to the ledger. */
export async function openFeed(
  { metrics, traces, anomalies }: TelemetrySettings,
  powers: Pick<TelemetryOptions, "now" | "report">,
): Promise<Feed | undefined> {
  if (!metrics.enabled && !traces.enabled && !anomalies.enabled) return undefined;
  const { createFeed } = await import("./feed.ts");
  return createFeed(powers);
}

/** `feed` is what `openFeed` returned for the same settings. */
export async function openTelemetry(feed: Feed | undefined, options: TelemetryOptions): Promise<Telemetry> {
  const { metrics, traces: traceSettings, anomalies } = options.settings;
  await using opened = new AsyncDisposableStack();
  const counters: (() => Readonly<Record<string, number>>)[] = [];
  if (feed && anomalies.enabled) counters.push(await openAnomalyWatch(feed, options, opened));
  const traces = feed && traceSettings.enabled ? opened.use(await openTracing(feed, options)) : undefined;
  if (traces) counters.push(() => ({ spans_exported: traces.exported, spans_dropped: traces.dropped }));
  const resources = opened.move();
  return {
    ...defined({ feed, traces }),
    async openMetrics(sources) {
      if (!feed || !metrics.enabled) return undefined;
      const { createMetrics } = await import("./metrics/create-metrics.ts");
      const others = (): Readonly<Record<string, number>> => Object.assign({}, ...counters.map((count) => count()));
      return createMetrics({ ...sources, feed, others }).render;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns the counters of anomalies and of their webhook. */
async function openAnomalyWatch(
  feed: Feed,
  options: TelemetryOptions,
  opened: AsyncDisposableStack,
): Promise<() => Readonly<Record<string, number>>> {
  const { store, ledger, egress, now, report, warn, resolveTemplates } = options;
  const { webhook: settings } = options.settings.anomalies;
  const { createWebhook } = await import("./anomalies/create-webhook.ts");
  const { openAnomalies } = await import("./anomalies/open-anomalies.ts");
  const openWebhook = ({ url, secret }: NonNullable<typeof settings>) => {
    const resolve = () => resolveTemplates({ secret }, "webhook for anomalies");
    const resolveSecret = async () => (await resolve())["secret"] ?? "";
    return opened.use(createWebhook({ url, send: fetchFrom(egress, url), resolveSecret, store, now, warn }));
  };
  const webhook = settings && openWebhook(settings);
  const watch = opened.use(await openAnomalies({ store, ledger, feed, now, onSeen: () => webhook?.wake(), report }));
  return () => ({
    anomalies: watch.seen,
    ...defined({ alerts_delivered: webhook?.delivered, alert_failures: webhook?.failures }),
  });
}

async function openTracing(feed: Feed, options: TelemetryOptions): Promise<Traces> {
  const { egress, version, collector, createTraceId, warn, resolveTemplates } = options;
  const { endpoint, headers } = options.settings.traces;
  const { openTraces } = await import("./traces/open-traces.ts");
  const base = endpoint ?? collector ?? DEFAULT_COLLECTOR;
  const url = `${base.replace(/\/+$/, "")}/v1/traces`;
  if (!URL.canParse(url)) {
    throw new GloveboxError("CONFIG_INVALID", "OTEL_EXPORTER_OTLP_ENDPOINT is not a valid URL", {
      hint: "Correct it, or set traces.endpoint in the configuration",
    });
  }
  const resolveHeaders = () => resolveTemplates(headers, "traces");
  return openTraces({ feed, version, url, send: fetchFrom(egress, url), resolveHeaders, createTraceId, warn });
}

/** The operator wrote the address, so it may be in a private network. */
function fetchFrom(egress: TelemetryOptions["egress"], url: string): ReturnType<Egress["fetchFrom"]> {
  return egress.fetchFrom(new URL(url).origin, { maxBytes: MAX_RESPONSE_BYTES, mayBePrivate: true });
}
