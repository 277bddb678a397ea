/** The positions of executions and calls in a trace, and what is exported. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openEgress } from "../../egress/index.ts";
import { callEntries, endedExecution, executionId, openTelemetryFixture } from "../fixtures/events.ts";
import type { TelemetryFixture } from "../fixtures/events.ts";
import { startReceiver } from "../fixtures/receiver.ts";
import type { Receiver } from "../fixtures/receiver.ts";
import { openTraces } from "./open-traces.ts";
import type { Traces } from "./open-traces.ts";

const TRACE = "ab".repeat(16);
const CLIENT = "cd".repeat(8);
const OWN = "12".repeat(16);

function open({ feed }: TelemetryFixture, receiver: Receiver): Traces {
  return openTraces({
    feed,
    version: "9",
    url: `${receiver.url}/v1/traces`,
    send: openEgress().fetchFrom(receiver.url, { maxBytes: 1_000, mayBePrivate: true }),
    resolveHeaders: async () => ({}),
    createTraceId: () => OWN,
    warn: assert.ifError,
  });
}

/** Runs one execution with one call and returns what the collector received. */
async function traceOne(trace: unknown): Promise<{ readonly context: unknown; readonly body: string | undefined }> {
  await using watched = await openTelemetryFixture();
  await using receiver = await startReceiver();
  const traces = open(watched, receiver);
  traces.begin(executionId(1), trace);
  const context = traces.contextOf(executionId(1), 1);
  for (const entry of callEntries({ ms: 2.5 })) await watched.ledger.write(entry);
  watched.clock.now += 20;
  watched.feed.ended(...endedExecution({}));
  watched.feed.drain();
  assert.equal(traces.contextOf(executionId(1), 1), undefined);
  await traces[Symbol.asyncDispose]();
  return { context, body: receiver.received[0]?.body };
}

test("openTraces continues the trace of a client and exports OTLP", async () => {
  const { context, body } = await traceOne({ traceparent: `00-${TRACE}-${CLIENT}-01`, tracestate: "a=1" });
  const { traceparent, ...rest } = context as { traceparent: string };
  const [, , spanId] = traceparent.split("-");
  assert.match(traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  assert.deepEqual(rest, { tracestate: "a=1" });
  const sent = JSON.parse(body ?? "") as { resourceSpans: { scopeSpans: { spans: { spanId: string }[] }[] }[] };
  const own = sent.resourceSpans[0]?.scopeSpans[0]?.spans[1]?.spanId;
  const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
  const call = {
    traceId: TRACE,
    spanId,
    traceState: "a=1",
    parentSpanId: own,
    name: "crm.read",
    kind: 3,
    startTimeUnixNano: "999997500000",
    endTimeUnixNano: "1000000000000",
    attributes: [
      text("glovebox.tool", "crm.read"),
      text("glovebox.server", "crm server"),
      text("glovebox.effect", "read"),
      text("glovebox.decision", "allow"),
      text("glovebox.outcome", "ok"),
    ],
    status: { code: 1 },
  };
  const whole = {
    traceId: TRACE,
    spanId: own,
    traceState: "a=1",
    parentSpanId: CLIENT,
    name: "execute",
    kind: 2,
    startTimeUnixNano: "1000000000000",
    endTimeUnixNano: "1000020000000",
    attributes: [
      text("glovebox.execution", executionId(1)),
      text("glovebox.state", "completed"),
      { key: "glovebox.calls", value: { intValue: "0" } },
      { key: "glovebox.queue_ms", value: { doubleValue: 1 } },
    ],
    status: { code: 1 },
  };
  const resource = { attributes: [text("service.name", "glovebox"), text("service.version", "9")] };
  const scopeSpans = [{ scope: { name: "glovebox", version: "9" }, spans: [call, whole] }];
  assert.deepEqual(sent, { resourceSpans: [{ resource, scopeSpans }] });
});

test("openTraces begins a new trace without a valid one of the client", async () => {
  for (const wrong of [undefined, { traceparent: "nonsense" }, "text"]) {
    const { context, body } = await traceOne(wrong);
    assert.match(JSON.stringify(context), new RegExp(`"00-${OWN}-[0-9a-f]{16}-01"`));
    assert.doesNotMatch(body ?? "", /"parentSpanId":"(cd)+"/);
    assert.ok(body?.includes(OWN));
  }
});

test("openTraces propagates an unsampled trace and does not export it", async () => {
  const { context, body } = await traceOne({ traceparent: `00-${TRACE}-${CLIENT}-00` });
  assert.match(JSON.stringify(context), new RegExp(`"00-${TRACE}-[0-9a-f]{16}-00"`));
  assert.equal(body, undefined);
});
