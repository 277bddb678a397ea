/** What a client hears when its patience ends before its work does, and what then ends that work. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { EXECUTION, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseExecutionId } from "../../domain/index.ts";
import type { ExecutionEvent } from "../../domain/index.ts";
import { answerWithin } from "./answer-within.ts";
import type { Watched } from "./answer-within.ts";

const OPENED: ExecutionEvent = { kind: "opened", execution: EXECUTION };
const LINE: ExecutionEvent = { kind: "log", line: { level: "log", text: "one", atMs: 1 } };
const FOREVER_MS = 600_000;

/** Work that a test opens and ends by hand, asked for with so much patience. */
function start(patienceMs: number, cancel = new AbortController()) {
  const work = Promise.withResolvers<string>();
  const given = Promise.withResolvers<Watched>();
  const heard: ExecutionEvent[] = [];
  const reported: unknown[] = [];
  const patience = {
    patienceMs,
    signal: cancel.signal,
    onEvent: (event: ExecutionEvent) => void heard.push(event),
    report: (thrown: unknown) => void reported.push(thrown),
  };
  const answer = answerWithin(patience, (watched) => {
    given.resolve(watched);
    return work.promise;
  });
  return { answer, work, watched: given.promise, heard, reported, cancel };
}

describe("work within a client's patience", () => {
  it("answers with what came of it", async () => {
    const { answer, work, watched, heard } = start(FOREVER_MS);
    (await watched).onEvent(OPENED);
    work.resolve("result");
    assert.deepEqual(await answer, { kind: "done", done: "result" });
    assert.deepEqual(heard, [OPENED]);
  });
  it("fails as it fails", async () => {
    const { answer, work, reported } = start(FOREVER_MS);
    work.reject(new Error("gone"));
    await assert.rejects(answer, { message: "gone" });
    assert.deepEqual(reported, []);
  });
  it("is cancelled by whoever asked, also before it began", async () => {
    const { watched, cancel, work } = start(FOREVER_MS);
    const { signal } = await watched;
    assert.equal(signal.aborted, false);
    cancel.abort("enough");
    assert.deepEqual([signal.aborted, signal.reason], [true, "enough"]);
    const late = new AbortController();
    late.abort("early");
    const second = start(FOREVER_MS, late);
    assert.equal((await second.watched).signal.reason, "early");
    for (const ended of [work, second.work]) ended.resolve("cancelled");
  });
});

describe("work beyond a client's patience", () => {
  it("answers with its execution, goes on whatever the client does, and tells it nothing more", async () => {
    const { answer, work, watched, heard, cancel } = start(0);
    const { signal, onEvent } = await watched;
    onEvent(OPENED);
    assert.deepEqual(await answer, { kind: "goes on", execution: EXECUTION });
    cancel.abort();
    onEvent(LINE);
    assert.deepEqual([signal.aborted, heard], [false, [OPENED]]);
    work.resolve("result");
  });
  it("is waited for until it has an execution, or has ended without one", async () => {
    const named = start(0);
    const unnamed = start(0);
    await new Promise((soon) => setTimeout(soon, 5));
    (await named.watched).onEvent(OPENED);
    assert.deepEqual(await named.answer, { kind: "goes on", execution: EXECUTION });
    unnamed.work.resolve("refused");
    assert.deepEqual(await unnamed.answer, { kind: "done", done: "refused" });
  });
  it("names the execution that took another one's place", async () => {
    const next = known(parseExecutionId(`ex_${"9".repeat(24)}`));
    const { answer, watched } = start(20);
    const { onEvent } = await watched;
    onEvent(OPENED);
    onEvent({ kind: "opened", execution: next });
    assert.deepEqual(await answer, { kind: "goes on", execution: next });
  });
  it("reports a failure that nobody waits for", async () => {
    const { answer, work, watched, reported } = start(0);
    (await watched).onEvent(OPENED);
    await answer;
    const failure = new Error("not recorded");
    work.reject(failure);
    await new Promise((soon) => setImmediate(soon));
    assert.deepEqual(reported, [failure]);
  });
});
