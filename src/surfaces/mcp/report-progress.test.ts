/** Progress notifications: counters, messages and rate limits. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExecutionEvent } from "../../domain/index.ts";
import { APPROVAL } from "./fixtures/approval.ts";
import { EXECUTION } from "./fixtures/memory-gateway.ts";
import { createReporter, reportWaiting } from "./report-progress.ts";
import type { ProgressParams } from "./report-progress.ts";

function watch() {
  const sent: ProgressParams[] = [];
  const clock = { now: 0 };
  const send = async (params: ProgressParams): Promise<void> => void sent.push(params);
  return { sent, clock, report: createReporter({ progressToken: "t", send, now: () => clock.now }) };
}

const log = (text: string): ExecutionEvent => ({ kind: "log", line: { level: "warn", text, atMs: 1 } });
const RECORD = { seq: 1, tool: "a.b", effect: "read", decision: "allow", outcome: "ok", ms: 1 } as const;

test("each event is one notification, and progress increases by one", () => {
  const { sent, report } = watch();
  report({ kind: "opened", execution: EXECUTION });
  report({ kind: "called", seq: 1, tool: "a.b" });
  report({ kind: "progress", seq: 1, tool: "a.b", progress: { done: 1, total: 4, message: "reading" } });
  report(log("one"));
  report({ kind: "asked", approval: APPROVAL });
  report({ kind: "answered", record: RECORD });
  assert.deepEqual(
    sent.map(({ progress, message, progressToken }) => [progressToken, progress, message]),
    [
      ["t", 1, `Execution ${EXECUTION} started`],
      ["t", 2, "a.b called; 0 of 1 calls answered"],
      ["t", 3, "a.b 1/4 reading"],
      ["t", 4, "[warn] one"],
      ["t", 5, `${APPROVAL.tool} waits for approval (${APPROVAL.id})`],
      ["t", 6, "a.b ok; 1 of 1 calls answered"],
    ],
  );
});

test("log lines are limited to a burst and a rate, while calls are all reported", () => {
  const { sent, report, clock } = watch();
  for (let line = 0; line < 1_000; line += 1) report(log("x"));
  assert.equal(sent.length, 20);
  report({ kind: "called", seq: 1, tool: "a.b" });
  assert.equal(sent.length, 21);
  clock.now = 250;
  for (let line = 0; line < 1_000; line += 1) report(log("x"));
  assert.equal(sent.length, 23);
});

test("calls are reported up to a limit", () => {
  const { sent, report } = watch();
  for (let seq = 1; seq <= 2_000; seq += 1) report({ kind: "called", seq, tool: "a.b" });
  assert.equal(sent.length, 1_000);
});

test("a long log line is shortened to well-formed text", () => {
  const { sent, report } = watch();
  report(log(`x${"🧤".repeat(500)}`));
  const message = sent[0]?.message ?? "";
  assert.ok(message.isWellFormed() && message.length <= 501 && message.endsWith("…"), message);
});

test("a notification to a disconnected client fails silently, and later ones are still sent", async () => {
  const tried: number[] = [];
  const send = async ({ progress }: ProgressParams): Promise<void> => {
    tried.push(progress);
    throw new Error("gone");
  };
  const report = createReporter({ progressToken: 1, send, now: () => 0 });
  report(log("x"));
  await new Promise(setImmediate);
  report(log("y"));
  await new Promise(setImmediate);
  assert.deepEqual(tried, [1, 2]);
});

test("a client that waits is told so until the request is answered", async () => {
  const seen: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  {
    using _ = reportWaiting((event) => {
      seen.push(event.kind);
      if (seen.length === 2) resolve();
    }, 1);
    await promise;
  }
  const count = seen.length;
  await new Promise((done) => setTimeout(done, 5));
  assert.equal(seen.length, count);
  const { sent, report } = watch();
  report({ kind: "waiting", seconds: 5 });
  assert.equal(sent[0]?.message, "Waiting for 5 s; 0 of 0 calls answered");
});
