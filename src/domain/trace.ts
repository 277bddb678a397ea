/** Where a request stands in a trace that somebody else began, as W3C Trace Context writes it. */

import { isJsonObject } from "./json.ts";

/** Checked: what it holds can be sent on as it is. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Later versions may add fields behind the four that are known. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** `undefined` for anything that is no trace context: a wrong one is ignored, as the standard asks. */
export function parseTraceContext(raw: unknown): TraceContext | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { traceparent, tracestate } = raw;
  const found = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent)?.[0] : undefined;
  if (found === undefined || (found.startsWith("00") && found !== traceparent)) return undefined;
  const isState = typeof tracestate === "string" && TRACESTATE.test(tracestate);
  return { traceparent: `00${found.slice(2)}`, ...(isState && { tracestate }) };
}
