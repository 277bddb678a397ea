/** Spans as OTLP writes them in JSON. Names, numbers and codes; no argument, no result, no source, no principal. */

import type { JsonObject } from "../../domain/index.ts";
import type { CallTelemetry, ExecutionTelemetry } from "../event.ts";

/** Where one execution stands in its trace. */
export interface TracePosition {
  readonly traceId: string;
  readonly spanId: string;
  /** `undefined` when the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** Whoever began the trace decides; nobody exports a trace that is not sampled. */
  readonly isSampled: boolean;
  readonly tracestate: string | undefined;
}

/** As OTLP numbers them. */
const SERVER = 2;
const CLIENT = 3;
const OK = 1;
const ERROR = 2;

/** The span of a whole execution. */
export function toExecutionSpan(place: TracePosition, seen: ExecutionTelemetry): JsonObject {
  const { execution, state, code, stats, startedAt, endedAt } = seen;
  const { parentSpanId } = place;
  return {
    ...toIdentity(place, place.spanId),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: "execute",
    kind: SERVER,
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(Math.max(startedAt, endedAt)),
    attributes: [
      ...toAttributes({ "glovebox.execution": execution, "glovebox.state": state, "error.type": code }),
      { key: "glovebox.calls", value: { intValue: String(stats.calls) } },
      { key: "glovebox.queue_ms", value: { doubleValue: stats.queueMs } },
    ],
    status: { code: state === "failed" ? ERROR : OK },
  };
}

/** The span of one call, under that of its execution. */
export function toCallSpan(place: TracePosition, spanId: string, seen: CallTelemetry): JsonObject {
  const { tool, outcome, code, ms, endedAt } = seen;
  return {
    ...toIdentity(place, spanId),
    parentSpanId: place.spanId,
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

function toIdentity({ traceId, tracestate }: TracePosition, spanId: string): JsonObject {
  return { traceId, spanId, ...(tracestate !== undefined && { traceState: tracestate }) };
}

/** As text: the number has more digits than JSON can carry. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** As OTLP writes texts; what has no value is left out. */
export function toAttributes(texts: Readonly<Record<string, string | undefined>>): JsonObject[] {
  return Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [{ key, value: { stringValue: text } }],
  );
}
