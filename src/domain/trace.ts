/** The position of a request in a caller's trace, in the format of W3C Trace Context. */

import { defined } from "./defined.ts";
import { isJsonObject } from "./json.ts";

/** Checked, so it can be forwarded unchanged. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Later versions may add fields after the four known ones. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Returns `undefined` for anything that is not a trace context: the standard requires that an invalid one is ignored. */
export function parseTraceContext(raw: unknown): TraceContext | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { traceparent, tracestate } = raw;
  const found = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent)?.[0] : undefined;
  if (found === undefined || (found.startsWith("00") && found !== traceparent)) return undefined;
  const state = typeof tracestate === "string" && TRACESTATE.test(tracestate) ? tracestate : undefined;
  return defined({ traceparent: `00${found.slice(2)}`, tracestate: state });
}
