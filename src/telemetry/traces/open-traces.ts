/** Traces executions and calls: from the client's span to the spans of upstreams. */

import { defined, parseTraceContext } from "../../domain/index.ts";
import { toOtlpResource } from "../../ledger/index.ts";
import { digestOf } from "../../text/index.ts";
import { createRecent } from "../../timing/index.ts";
import type { Recent } from "../../timing/index.ts";
import type { JsonObject, TraceContext } from "../../domain/index.ts";
import type { Feed } from "../feed.ts";
import type { TelemetryEvent } from "../event.ts";
import { createSpanExporter } from "./span-exporter.ts";
import type { SpanExporterOptions } from "./span-exporter.ts";
import { toCallSpan, toExecutionSpan } from "./span.ts";
import type { TracePosition } from "./span.ts";

export interface TracesOptions extends Omit<SpanExporterOptions, "wrap"> {
  readonly feed: Feed;
  readonly version: string;
  /** 32 random hex digits. */
  readonly createTraceId: () => string;
}

export interface Traces extends AsyncDisposable {
  /** Call it before the execution starts. `raw` is the unparsed trace context of the client. */
  begin(execution: string, raw: unknown): void;
  /** Returns the trace context for the upstream, whose spans become children of this call. */
  contextOf(execution: string, seq: number): TraceContext | undefined;
  readonly exported: number;
  readonly dropped: number;
}

/** More than the executions in progress. One that never ends must not stay forever. */
const MAX_OPEN = 10_000;
const SPAN_DIGITS = 16;
const SAMPLED = 0x01;

export function openTraces(options: TracesOptions): Traces {
  const { feed, version, createTraceId } = options;
  const exporter = createSpanExporter({ ...options, wrap: (spans) => wrapSpans(spans, version) });
  const positions = createRecent<string, TracePosition>(MAX_OPEN);
  const forget = feed.listen((event) => {
    const span = toSpan(event, positions);
    if (span) exporter.add(span);
    if (event.kind === "execution") positions.delete(event.execution);
  });
  return {
    begin(execution, raw) {
      positions.set(execution, toTracePosition(execution, parseTraceContext(raw), createTraceId));
    },
    contextOf(execution, seq) {
      const position = positions.get(execution);
      if (!position) return undefined;
      const { traceId, isSampled, tracestate } = position;
      const traceparent = `00-${traceId}-${toSpanId(traceId, execution, seq)}-${isSampled ? "01" : "00"}`;
      return { traceparent, ...defined({ tracestate }) };
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

function toSpan(event: TelemetryEvent, positions: Pick<Recent<string, TracePosition>, "get">): JsonObject | undefined {
  if (event.kind === "commit") return undefined;
  const { execution } = event;
  const position = positions.get(execution);
  if (!position?.isSampled) return undefined;
  if (event.kind === "execution") return toExecutionSpan(position, event);
  return toCallSpan(position, toSpanId(position.traceId, execution, event.seq), event);
}

/** Without a trace of the client, a new sampled one begins. */
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

/** Derived from the call, so that no state is needed between a call and its span. `seq` 0 is the execution. */
function toSpanId(traceId: string, execution: string, seq: number): string {
  const [, hex = ""] = digestOf(`${traceId} ${execution} ${seq}`).split(":");
  return hex.slice(0, SPAN_DIGITS);
}

function wrapSpans(spans: readonly JsonObject[], version: string): JsonObject {
  const scopeSpans = [{ scope: { name: "glovebox", version }, spans: [...spans] }];
  return { resourceSpans: [{ resource: toOtlpResource(version), scopeSpans }] };
}
