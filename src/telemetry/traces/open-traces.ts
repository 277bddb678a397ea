/**
 * Traces executions and calls: from the client's span to the spans of upstreams. Spans are in the JSON encoding of OTLP
 * and contain no arguments, results, source or principals.
 */

import { defined, parseTraceContext } from "../../domain/index.ts";
import type { Json, JsonObject, TraceContext } from "../../domain/index.ts";
import { toOtlpAttribute, toOtlpResource } from "../../ledger/index.ts";
import { digestOf } from "../../text/index.ts";
import { createRecent } from "../../timing/index.ts";
import type { CallTelemetry, ExecutionTelemetry } from "../event.ts";
import type { Feed } from "../feed.ts";
import { createSpanExporter } from "./span-exporter.ts";
import type { SpanExporter, SpanExporterOptions } from "./span-exporter.ts";

export interface TracesOptions extends Omit<SpanExporterOptions, "wrap"> {
  readonly feed: Feed;
  readonly version: string;
  /** 32 random hex digits. */
  readonly createTraceId: () => string;
}

export interface Traces extends Omit<SpanExporter, "add"> {
  /** Call it before the execution starts. `raw` is the unparsed trace context of the client. */
  begin(execution: string, raw: unknown): void;
  /** Returns the trace context for the upstream, whose spans become children of this call. */
  contextOf(execution: string, seq: number): TraceContext | undefined;
}

/** The position of one execution in its trace. */
interface TracePosition {
  readonly traceId: string;
  readonly spanId: string;
  /** `undefined` if the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** Decided by the client that began the trace. An unsampled trace is not exported. */
  readonly isSampled: boolean;
  readonly tracestate: string | undefined;
}

/** More than the executions in progress. One that never ends must not stay forever. */
const MAX_OPEN = 10_000;
const SPAN_DIGITS = 16;
const SAMPLED = 0x01;

/** Span kinds and status codes of OTLP. */
const SERVER = 2;
const CLIENT = 3;
const OK = 1;
const ERROR = 2;

export function openTraces(options: TracesOptions): Traces {
  const { feed, version, createTraceId } = options;
  const exporter = createSpanExporter({ ...options, wrap: (spans) => wrapSpans(spans, version) });
  const positions = createRecent<string, TracePosition>(MAX_OPEN);
  const forget = feed.listen((event) => {
    if (event.kind === "commit") return;
    const position = positions.get(event.execution);
    if (event.kind === "execution") positions.delete(event.execution);
    if (position?.isSampled !== true) return;
    exporter.add(event.kind === "call" ? toCallSpan(position, event) : toExecutionSpan(position, event));
  });
  return {
    begin(execution, raw) {
      positions.set(execution, toTracePosition(execution, raw, createTraceId));
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

/** Without a trace of the client, a new sampled one begins. */
function toTracePosition(execution: string, raw: unknown, createTraceId: () => string): TracePosition {
  const { traceparent, tracestate } = parseTraceContext(raw) ?? {};
  const [, traceId = createTraceId(), parentSpanId, flags = "01"] = traceparent?.split("-") ?? [];
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, spanId: toSpanId(traceId, execution, 0), parentSpanId, isSampled, tracestate };
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

function toExecutionSpan({ parentSpanId, ...position }: TracePosition, event: ExecutionTelemetry): JsonObject {
  const { execution, state, code, stats, startedAt, endedAt } = event;
  return {
    ...toIdentity(position),
    ...defined({ parentSpanId }),
    name: "execute",
    kind: SERVER,
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(Math.max(startedAt, endedAt)),
    attributes: [
      ...toAttributes({
        "glovebox.execution": execution,
        "glovebox.state": state,
        "error.type": code,
        "glovebox.calls": stats.calls,
      }),
      { key: "glovebox.queue_ms", value: { doubleValue: stats.queueMs } },
    ],
    status: { code: state === "failed" ? ERROR : OK },
  };
}

/** A child of the span of its execution. */
function toCallSpan(position: TracePosition, event: CallTelemetry): JsonObject {
  const { execution, seq, tool, outcome, code, ms, endedAt } = event;
  const { traceId, tracestate, spanId: parentSpanId } = position;
  return {
    ...toIdentity({ traceId, tracestate, spanId: toSpanId(traceId, execution, seq) }),
    parentSpanId,
    name: tool?.address ?? "call",
    kind: CLIENT,
    startTimeUnixNano: toNanoseconds(endedAt - ms),
    endTimeUnixNano: toNanoseconds(endedAt),
    attributes: toAttributes({
      "glovebox.tool": tool?.address,
      "glovebox.server": tool?.server,
      "glovebox.effect": tool?.effect,
      "glovebox.decision": tool?.decision,
      "glovebox.outcome": outcome,
      "error.type": code,
    }),
    status: { code: outcome === "ok" ? OK : ERROR },
  };
}

function toIdentity({ traceId, spanId, tracestate }: Omit<TracePosition, "isSampled" | "parentSpanId">): JsonObject {
  return { traceId, spanId, ...defined({ traceState: tracestate }) };
}

/** A string, because the number is above the safe integers. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** Omits undefined values. */
function toAttributes(values: Readonly<Record<string, Json | undefined>>): JsonObject[] {
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [toOtlpAttribute(key, value)]));
}
