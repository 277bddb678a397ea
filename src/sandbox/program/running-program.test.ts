/** One program from its start to its end, with a child that is played: what it is told, and what may end it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import { codeOf, kindsOf, play } from "../fixtures/play-child.ts";
import type { SandboxJob } from "../sandbox.ts";
import type { Delivery, Tape } from "../tape.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

const NO_TAPE = { began: () => undefined, repeat: () => undefined, keep: () => undefined };

describe("a replayed program", () => {
  const past = [{ kind: "reply", id: 1, atMs: 5, text: "1" }] as const;
  const showing = (deliveries: readonly Delivery[], more: Partial<SandboxJob> = {}) =>
    play({}, undefined, undefined, { tape: { past: deliveries, endsWithPast: true, ...NO_TAPE }, ...more });

  it("pings the child after the last past delivery and suspends the program on PONG", async () => {
    const { sent, say, outcome, released, rests } = showing(past);
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START]);
    say(TO_HOST.CALL, 1, "files.read\n{}");
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START, TO_GUEST.REPLY, TO_GUEST.PING]);
    say(TO_HOST.CALL, 2, "files.read\n{}");
    say(TO_HOST.PONG);
    assert.deepEqual([codeOf((await outcome).ending), released], ["paused", [true]]);
    assert.equal(sent.at(-1)?.kind, TO_GUEST.END);
    assert.deepEqual(rests, [{ pongs: 0, readyMs: 100 }]);
  });
  it("pings the child at once without past deliveries", async () => {
    const { sent, say, outcome } = showing([]);
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START, TO_GUEST.PING]);
    say(TO_HOST.PONG);
    assert.equal(codeOf((await outcome).ending), "paused");
  });
  it("ends with the result of a last call that arrives after the PONG", async () => {
    const error = new GloveboxError("LIMIT_CALLS", "Too many");
    const { say, outcome } = showing([], { host: { call: () => Promise.reject(error) } });
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.PONG);
    assert.equal(codeOf((await outcome).ending), "LIMIT_CALLS");
  });
  it("releases a child whose program ends before the PONG, and says that the PONG is due", async () => {
    const { say, outcome, released, rests } = showing([]);
    say(TO_HOST.DONE, 0, "1");
    assert.deepEqual([codeOf((await outcome).ending), released], ["returned", [true]]);
    assert.deepEqual(rests, [{ pongs: 1, readyMs: undefined }]);
  });
});

describe("a delivery to a program", () => {
  const keeping = (keep: Tape["keep"]) =>
    play({}, undefined, undefined, {
      tape: { past: [], ...NO_TAPE, keep },
      host: { call: (_, args) => Promise.resolve({ ok: true, json: String(args) }) },
    });
  const turn = (): Promise<unknown> => new Promise(setImmediate);

  it("a delivery enters after it is journaled, in the order of the journal", async () => {
    const kept: (() => void)[] = [];
    const { sent, say } = keeping(() => new Promise((resolve) => void kept.push(resolve)));
    say(TO_HOST.CALL, 1, "files.read\n1");
    say(TO_HOST.CALL, 2, "files.read\n2");
    await turn();
    assert.deepEqual([kindsOf(sent), kept.length], [[TO_GUEST.START], 2]);
    for (const resolve of kept) resolve();
    await turn();
    assert.deepEqual(
      sent.slice(1).map(({ kind, id }) => [kind, id]),
      [
        [TO_GUEST.REPLY, 1],
        [TO_GUEST.REPLY, 2],
      ],
    );
  });
  it("a delivery that cannot be journaled ends the program", async () => {
    const { sent, say, outcome } = keeping(() => Promise.reject(new GloveboxError("STORE_UNAVAILABLE", "full")));
    say(TO_HOST.CALL, 1, "files.read\n1");
    assert.deepEqual([codeOf((await outcome).ending), kindsOf(sent)], ["STORE_UNAVAILABLE", [TO_GUEST.START]]);
  });
});

it("ends a program whose child sends an unexpected PONG", async () => {
  const { sent, say, outcome } = play();
  assert.deepEqual(kindsOf(sent), [TO_GUEST.START]);
  say(TO_HOST.PONG);
  assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
});

describe("the START frame", () => {
  it("START contains the program, its tools, its input and its limits, and nothing else", async () => {
    const { sent, say, outcome } = play({ wallMs: 5_000 });
    say(TO_HOST.DONE);
    await outcome;
    assert.deepEqual(
      sent.map(({ kind, id, text }) => [kind, id, JSON.parse(text)]),
      [
        [
          TO_GUEST.START,
          0,
          {
            javascript: "x",
            namespaces: { files: "read,write", github: "listIssues" },
            input: null,
            seed: [1, 2, 3, 4],
            limits: {
              wallMs: 5_000,
              memoryBytes: 134_217_728,
              outputBytes: 1_048_576,
              valueBytes: 10_485_760,
              argumentBytes: 1_048_576,
              depth: 64,
            },
          },
        ],
      ],
    );
  });
});

describe("the end of a program", () => {
  it("a program ends once; later frames of the child are ignored", async () => {
    const { say, outcome, released } = play();
    say(TO_HOST.LOG, 2, "before");
    say(TO_HOST.DONE, 0, "[1]");
    say(TO_HOST.LOG, 0, "after");
    say(TO_HOST.THREW, 0, "{}");
    say(99);
    const { ending, logs } = await outcome;
    assert.deepEqual(ending, { kind: "returned", value: [1] });
    assert.deepEqual(
      logs.map(({ level, text }) => [level, text]),
      [["warn", "before"]],
    );
    assert.deepEqual(released, [true]);
  });
  it("an exception of the program leaves the child usable", async () => {
    const { say, outcome, released } = play();
    say(TO_HOST.THREW, 0, '{"kind":"thrown","message":"m"}');
    assert.equal((await outcome).ending.kind, "threw");
    assert.deepEqual(released, [true]);
  });
  it("sends no replies or ticks after the end", async () => {
    const { say, outcome, sent } = play();
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.TIMER, 1, "0");
    say(TO_HOST.DONE);
    await outcome;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(
      sent.map(({ kind }) => kind),
      [TO_GUEST.START],
    );
  });
});

describe("a program whose child dies", () => {
  it("a program whose child dies ends with the reason, once", async () => {
    const { child, outcome, released } = play();
    const reason = new GloveboxError("SANDBOX_CRASHED", "The sandbox process ended (SIGSEGV)");
    child.listener.gone(reason);
    child.listener.gone(reason);
    const { ending } = await outcome;
    assert.ok(ending.kind === "failed");
    assert.equal(ending.error, reason);
    assert.deepEqual(released, [false]);
  });
});

describe("an abort signal that fired before the start", () => {
  it("a signal that is already aborted ends the program at once", async () => {
    const { outcome, released } = play({}, AbortSignal.abort());
    assert.deepEqual((await outcome).ending, { kind: "cancelled" });
    assert.deepEqual(released, [false]);
  });
});

describe("a program that waits for nothing", () => {
  const stuck = JSON.stringify({ kind: "stuck", name: "Error", message: "stuck", stack: "" });
  for (const [share, kind] of [
    [0.79, "threw"],
    [0.81, "failed"],
  ] as const) {
    it(`a stuck program ${kind === "threw" ? "threw" : "exceeded its memory limit"} when it held ${share} of its memory`, async () => {
      const { say, outcome } = play();
      say(TO_HOST.USAGE, 0, `0 ${Math.round(DEFAULT_LIMITS.memoryBytes * share)}`);
      say(TO_HOST.THREW, 0, stuck);
      const { ending } = await outcome;
      assert.equal(ending.kind, kind);
      if (ending.kind === "failed") assert.equal(ending.error.code, "LIMIT_MEMORY");
    });
  }
});
