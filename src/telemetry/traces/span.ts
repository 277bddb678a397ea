/** Spans in the JSON encoding of OTLP. They contain no arguments, results, source or principals. */

import { defined } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { toOtlpAttribute } from "../../ledger/index.ts";
import type { CallTelemetry, ExecutionTelemetry } from "../event.ts";

/** The position of one execution in its trace. */
export interface TracePosition {
  readonly traceId: string;
  readonly spanId: string;
  /** `undefined` if the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** Decided by the client that began the trace. An unsampled trace is not exported. */
  readonly isSampled: boolean;
  readonly tracestate: string | undefined;
}

/** Span kinds and status codes of OTLP. */
const SERVER = 2;
const CLIENT = 3;
const OK = 1;
const ERROR = 2;

/** The span of a whole execution. */
export function toExecutionSpan(position: TracePosition, event: ExecutionTelemetry): JsonObject {
  const { execution, state, code, stats, startedAt, endedAt } = event;
  const { parentSpanId } = position;
  return {
    ...toIdentity(position, position.spanId),
    ...defined({ parentSpanId }),
    name: "execute",
    kind: SERVER,
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(Math.max(startedAt, endedAt)),
    attributes: [
      ...toAttributes({ "glovebox.execution": execution, "glovebox.state": state, "error.type": code }),
      toOtlpAttribute("glovebox.calls", stats.calls),
      { key: "glovebox.queue_ms", value: { doubleValue: stats.queueMs } },
    ],
    status: { code: state === "failed" ? ERROR : OK },
  };
}

/** The span of one call, a child of the span of its execution. */
export function toCallSpan(position: TracePosition, spanId: string, event: CallTelemetry): JsonObject {
  const { tool, outcome, code, ms, endedAt } = event;
  return {
    ...toIdentity(position, spanId),
    parentSpanId: position.spanId,
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
  return { traceId, spanId, ...defined({ traceState: tracestate }) };
}

/** A string, because the number is above the safe integers. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** Omits undefined values. */
function toAttributes(texts: Readonly<Record<string, string | undefined>>): JsonObject[] {
  return Object.entries(texts).flatMap(([key, text]) => (text === undefined ? [] : [toOtlpAttribute(key, text)]));
}
