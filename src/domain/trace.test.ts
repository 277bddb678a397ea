/** A client's trace context: a valid one is kept, anything else is ignored. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseTraceContext } from "./trace.ts";

const IDS = `${"ab".repeat(16)}-${"cd".repeat(8)}`;
const PARENT = `00-${IDS}-01`;

test("parseTraceContext keeps traceparent and tracestate", () => {
  assert.deepEqual(parseTraceContext({ traceparent: PARENT, progressToken: 1 }), { traceparent: PARENT });
  assert.deepEqual(parseTraceContext({ traceparent: PARENT, tracestate: "a=1,b=2" }), {
    traceparent: PARENT,
    tracestate: "a=1,b=2",
  });
});

test("parseTraceContext keeps the known fields of a later version", () => {
  assert.deepEqual(parseTraceContext({ traceparent: `01-${IDS}-01-more` }), { traceparent: PARENT });
});

test("parseTraceContext ignores an invalid traceparent", () => {
  const wrong: unknown[] = [
    undefined,
    null,
    "text",
    {},
    { traceparent: 1 },
    { traceparent: "" },
    { traceparent: `ff-${IDS}-01` },
    { traceparent: `${PARENT}-more` },
    { traceparent: `${PARENT}x` },
    { traceparent: PARENT.toUpperCase() },
    { traceparent: `00-${"0".repeat(32)}-${"cd".repeat(8)}-01` },
    { traceparent: `00-${"ab".repeat(16)}-${"0".repeat(16)}-01` },
  ];
  assert.deepEqual(
    wrong.map((raw) => parseTraceContext(raw)),
    wrong.map(() => undefined),
  );
});

test("parseTraceContext drops a tracestate that is too long or not ASCII and keeps one at the limit", () => {
  const kept = (tracestate: string): boolean =>
    parseTraceContext({ traceparent: PARENT, tracestate })?.tracestate === tracestate;
  assert.deepEqual(["a".repeat(511), "a".repeat(512), "a".repeat(513), "a\nb", ""].map(kept), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
