/** Follows executions and their calls through a trace: from the client's span to those of the upstreams. */

import { createHash } from "node:crypto";

import { parseTraceContext } from "../../domain/index.ts";
import type { JsonObject, TraceContext } from "../../domain/index.ts";
import type { Feed } from "../feed.ts";
import type { TelemetryEvent } from "../event.ts";
import { createSpanExporter } from "./span-exporter.ts";
import type { SpanExporterOptions } from "./span-exporter.ts";
import { toAttributes, toCallSpan, toExecutionSpan } from "./span.ts";
import type { TracePosition } from "./span.ts";

export interface TracesOptions extends Omit<SpanExporterOptions, "wrap"> {
  readonly feed: Feed;
  readonly version: string;
  /** 32 random hex digits. */
  readonly createTraceId: () => string;
}

export interface Traces extends AsyncDisposable {
  /** Before anything of the execution happens; `raw` is whatever a client sent. */
  begin(execution: string, raw: unknown): void;
  /** What an upstream is told, so that its own spans hang under this call. */
  contextOf(execution: string, seq: number): TraceContext | undefined;
  readonly exported: number;
  readonly dropped: number;
}

/** Executions under way are far fewer; one that never ends must not stay for good. */
const MOST_OPEN = 10_000;
const SPAN_DIGITS = 16;
const SAMPLED = 0x01;

export function openTraces(options: TracesOptions): Traces {
  const { feed, version, createTraceId } = options;
  const exporter = createSpanExporter({ ...options, wrap: (spans) => wrapSpans(spans, version) });
  const places = new Map<string, TracePosition>();
  const forget = feed.listen((event) => {
    const span = toSpan(event, places);
    if (span) exporter.add(span);
    if (event.kind === "execution") places.delete(event.execution);
  });
  return {
    begin(execution, raw) {
      places.set(execution, toTracePosition(execution, parseTraceContext(raw), createTraceId));
      const [oldest] = places.keys();
      if (places.size > MOST_OPEN && oldest !== undefined) places.delete(oldest);
    },
    contextOf(execution, seq) {
      const place = places.get(execution);
      if (!place) return undefined;
      const { traceId, isSampled, tracestate } = place;
      const traceparent = `00-${traceId}-${toSpanId(traceId, execution, seq)}-${isSampled ? "01" : "00"}`;
      return { traceparent, ...(tracestate !== undefined && { tracestate }) };
    },
    get exported() {
      return exporter.exported;
    },
    get dropped() {
      return exporter.dropped;
    },
    async [Symbol.asyncDispose]() {
      feed.drain();
      forget();
      await exporter[Symbol.asyncDispose]();
    },
  };
}

function toSpan(event: TelemetryEvent, places: ReadonlyMap<string, TracePosition>): JsonObject | undefined {
  if (event.kind === "commit") return undefined;
  const { execution } = event;
  const place = places.get(execution);
  if (!place?.isSampled) return undefined;
  if (event.kind === "execution") return toExecutionSpan(place, event);
  return toCallSpan(place, toSpanId(place.traceId, execution, event.seq), event);
}

/** Without a client's trace a new one begins, which is sampled. */
function toTracePosition(
  execution: string,
  given: TraceContext | undefined,
  createTraceId: () => string,
): TracePosition {
  const [, traceId = createTraceId(), parentSpanId, flags = "01"] = given?.traceparent.split("-") ?? [];
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  const spanId = toSpanId(traceId, execution, 0);
  return { traceId, spanId, parentSpanId, isSampled, tracestate: given?.tracestate };
}

/** Made from what it stands for, so that nothing has to be remembered between a call and its span; 0 is the whole. */
function toSpanId(traceId: string, execution: string, seq: number): string {
  return createHash("sha256").update(`${traceId} ${execution} ${seq}`).digest("hex").slice(0, SPAN_DIGITS);
}

function wrapSpans(spans: readonly JsonObject[], version: string): JsonObject {
  const resource = { attributes: toAttributes({ "service.name": "glovebox", "service.version": version }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "glovebox", version }, spans: [...spans] }] }] };
}
