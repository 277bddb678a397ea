/** Past executions shown again, on every engine: the same bytes from the same deliveries, and nothing else reached. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { DEFAULT_LIMITS, parseToolAddress } from "../../domain/index.ts";
import type { Reply } from "../../domain/index.ts";
import { ENGINES } from "../../sandbox/fixtures/engines.ts";

import { openRecorder } from "./fixtures/record.ts";
import type { Answer } from "./fixtures/record.ts";
import type { KeptExecution } from "./kept.ts";
import { replayChanged } from "./show-replay.ts";
import { replay } from "./replay.ts";

const signal = new AbortController().signal;
const FAILURE = { code: "UPSTREAM_FAILED", message: "Broken", retry: false } as const;
const NEVER: Answer = () => new Promise(() => undefined);

/** Uses everything that a program can be given. */
const BUSY = `
  console.log("begin", Math.random(), Date.now(), JSON.stringify(input), secrets.KEY, typeof Headers);
  const late = new Promise((done) => setTimeout(() => done(Date.now()), 5));
  const both = await Promise.all([files.read({ n: Math.floor(Math.random() * 1e9) }), files.write({ at: Date.now() })]);
  const first = await Promise.race([files.read({ slow: true }), github.listIssues({})]);
  let failed;
  try { await github.listIssues({ fail: true }); } catch (error) { failed = [error.code, error.message]; }
  console.warn("end", await late);
  return { both, first, failed, random: Math.random(), id: crypto.randomUUID(), now: new Date().toISOString() };`;

const answer: Answer = async (tool, args, seq): Promise<Reply> => {
  if (args.includes("slow")) return new Promise(() => undefined);
  if (args.includes("fail")) return { ok: false, error: FAILURE };
  // The second call of a pair is answered first.
  await new Promise((done) => setTimeout(done, seq === 1 ? 20 : 1));
  return { ok: true, json: JSON.stringify({ tool, args, seq }) };
};

for (const engine of ENGINES) {
  describe(`a replay on ${engine}`, () => {
    let opened: Awaited<ReturnType<typeof openRecorder>>;
    before(async () => {
      opened = await openRecorder(engine);
    });
    after(() => opened.sandbox.close());
    const show = (kept: KeptExecution, until?: number) =>
      replay(kept, { signal, ...(until !== undefined && { until }) }, opened.rooms);

    it("has the same value, logs and calls, with the same random numbers, times and order of replies", async () => {
      const kept = await opened.record(BUSY, { answer });
      assert.equal(kept.result?.state, "completed", kept.result?.error?.message);
      const { result, difference } = await show(kept);
      assert.equal(difference, undefined);
      assert.equal(JSON.stringify(result.value), JSON.stringify(kept.result.value));
      assert.deepEqual(result.calls, kept.result.calls);
    });
    it("throws the same error, both the program's own and a tool's", async () => {
      for (const javascript of [
        "await files.read({});\nthrow new TypeError('no')",
        "await files.read({ fail: true })",
      ]) {
        const kept = await opened.record(javascript, { answer });
        const { result, difference } = await show(kept);
        assert.deepEqual([difference, result.error], [undefined, kept.result?.error]);
      }
    });
    it("stops after the reply to the call that `until` names", async () => {
      const javascript = `for (const n of [1, 2, 3]) { await files.read({ n }); console.log("read", n); }`;
      const kept = await opened.record(javascript);
      const { result, difference } = await show(kept, 2);
      assert.deepEqual(
        [difference, result.state, result.logs.map(({ text }) => text)],
        [undefined, "paused", ["read 1", "read 2"]],
      );
      assert.deepEqual(
        result.calls.map(({ seq, outcome }) => [seq, outcome]),
        [
          [1, "ok"],
          [2, "ok"],
          [3, "unknown"],
        ],
      );
      await assert.rejects(show(kept, 4), { code: "REQUEST_INVALID" });
    });
    it("replays a cancelled execution as far as it got", async () => {
      const abort = new AbortController();
      const until: Answer = (tool, args, seq) => {
        if (seq === 1) return answer(tool, args, seq);
        abort.abort();
        return NEVER(tool, args, seq);
      };
      const javascript = `await files.read({}); console.log("one"); await files.write({}); console.log("two");`;
      const kept = await opened.record(javascript, { answer: until, signal: abort.signal });
      assert.equal(kept.result?.state, "cancelled");
      const { result, difference } = await show(kept);
      assert.deepEqual([difference, result.state, result.logs.map(({ text }) => text)], [undefined, "paused", ["one"]]);
    });
    it("reports a difference in calls, result or log", async () => {
      const kept = await opened.record(`const { args } = await files.read({ a: 1 }); console.log("x"); return args;`);
      const changed = async (from: string, to: string) => {
        const { started } = kept.recording;
        const program = { ...started.program, javascript: started.program.javascript.replace(from, to) };
        return (await show({ ...kept, recording: { ...kept.recording, started: { ...started, program } } })).difference;
      };
      assert.equal(await changed("a: 1", "a: 1"), undefined);
      assert.equal(await changed("a: 1", "a: 2"), "Call 1 is files.read with other arguments than before");
      assert.equal(await changed("files.read", "files.write"), "Call 1 is files.write, but it was files.read before");
      assert.equal(await changed('"x"', '"y"'), 'Line 1 of the log was "log: x" and is "log: y"');
      assert.equal(await changed("return args", "return 1"), 'The value was {"a":1} and is 1');
      assert.match((await changed("await files.read", "files.read")) ?? "", /ended before it took all|has no|absent/);
    });
    it("runs other code against the recorded replies, each delivered once", async () => {
      const kept = await opened.record(`await files.read({ a: 1, b: 2 }); await github.listIssues({}); return 1;`);
      const run = (code: string) => replayChanged(kept, { code, signal }, opened.rooms);
      const { result } = await run(`const { args } = await files.read({ b: 2, a: 1 }); return Object.keys(args);`);
      assert.deepEqual([result.state, result.value], ["completed", ["a", "b"]]);
      const unknown = await run(`await github.listIssues({}); await github.listIssues({}); return 2;`);
      assert.deepEqual(unknown.result.error?.code, "REPLAY_DIVERGED");
      assert.equal(unknown.result.error.message, "Call 2, github.listIssues({}), is not in the recording");
    });
  });
}

describe("a replay of a recording", () => {
  let opened: Awaited<ReturnType<typeof openRecorder>>;
  before(async () => {
    opened = await openRecorder("isolate");
  });
  after(() => opened.sandbox.close());

  it("ends with LIMIT_CALLS above the limit of calls, not below or at it", async () => {
    for (const [calls, state] of [
      [1, "completed"],
      [2, "completed"],
      [3, "failed"],
    ] as const) {
      const limits = { ...DEFAULT_LIMITS, calls: 2 };
      const javascript = `for (let n = 0; n < ${calls}; n += 1) await files.read({ n }); return "all";`;
      const kept = await opened.record(javascript, { answer, limits });
      assert.equal(kept.result?.state, state);
      const { difference, result } = await replay(kept, { signal }, opened.rooms);
      assert.deepEqual([difference, result.state, result.error], [undefined, state, kept.result.error]);
      assert.deepEqual(result.calls, kept.result.calls);
    }
  });
  it("repeats whether a large result was kept or refused", async () => {
    const kept = await opened.record('return "x".repeat(2_000)', { limits: { outputBytes: 1_000 } });
    const error = { code: "LIMIT_SIZE", message: "no room", retry: false, hint: "Return less" } as const;
    assert.ok(kept.result);
    const { value: _, ...rest } = kept.result;
    const refused = { ...kept, result: { ...rest, state: "failed", error } } as const;
    const { difference, result } = await replay(refused, { signal }, opened.rooms);
    assert.deepEqual([difference, result.state, result.error], [undefined, "failed", error]);
    const other = (await replay(kept, { signal }, opened.rooms)).result;
    assert.deepEqual([other.state, other.truncated?.bytes], ["completed", 2_002]);
  });
  it("starts with the labels of its session", async () => {
    const kept = await opened.record("return 1");
    const tool = parseToolAddress("mail.search");
    assert.ok(tool);
    const labels = [{ label: "private", tool, execution: kept.execution.id, seq: 1 }] as const;
    const started = { ...kept.recording.started, labels };
    const labeled = { ...kept, recording: { ...kept.recording, started } };
    assert.deepEqual((await replay(labeled, { signal }, opened.rooms)).result.labels, labels);
    assert.equal((await replay(kept, { signal }, opened.rooms)).result.labels, undefined);
  });
  it("compares only the tools of calls when it is masked", async () => {
    const kept = await opened.record(
      `const { args } = await files.read({ a: 1 }); return (await files.read({ args })).tool;`,
    );
    const [first, ...rest] = kept.recording.deliveries;
    assert.ok(first);
    const deliveries = [{ ...first, delivery: { ...first.delivery, text: '{"args":"[hidden]"}' } }, ...rest];
    const masked = { ...kept, recording: { ...kept.recording, deliveries } };
    assert.match((await replay(masked, { signal }, opened.rooms)).difference ?? "", /^Call 2 is files.read with other/);
    const { difference } = await replay({ ...masked, isMasked: true }, { signal }, opened.rooms);
    assert.equal(difference, undefined);
  });
});
