/** The host's end of the wire against a child that lies: every frame it can think of is an ending, never a fault. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError, parsePrincipalId } from "../domain/index.ts";
import type { Limits, LogLine } from "../domain/index.ts";
import { ECHO, NAMESPACES, programOf } from "./fixtures/test-sandbox.ts";
import { NOTHING_MEASURED } from "./measure.ts";
import { RunningProgram } from "./running-program.ts";
import type { Ending, SandboxJob, SandboxResult } from "./sandbox.ts";
import type { Child, ChildListener } from "./start-child.ts";
import type { Delivery, Tape } from "./tape.ts";
import { TO_GUEST, TO_HOST } from "./wire.ts";

interface Sent {
  readonly kind: number;
  readonly id: number;
  readonly text: string;
}

interface Played {
  readonly child: Child;
  readonly sent: Sent[];
  readonly released: boolean[];
  readonly outcome: Promise<SandboxResult>;
  /** Sends a frame as the child would. */
  readonly say: (kind: number, id?: number, text?: string) => void;
}

function play(
  limits: Partial<Limits> = {},
  signal = new AbortController().signal,
  onLog: (line: LogLine) => void = () => undefined,
  more: Partial<SandboxJob> = {},
): Played {
  const sent: Sent[] = [];
  const released: boolean[] = [];
  const idle: ChildListener = { frame: () => undefined, gone: () => undefined };
  const child: Child = {
    pid: 0,
    isGone: false,
    listener: idle,
    send: (kind, id, text) => void sent.push({ kind, id, text }),
    hasGivenWay: false,
    giveWay: () => undefined,
    comeBack: () => true,
    kill: () => undefined,
  };
  const principal = parsePrincipalId("agent");
  assert.ok(principal);
  const { outcome } = new RunningProgram({
    child,
    baseline: NOTHING_MEASURED,
    job: {
      program: programOf("x"),
      namespaces: NAMESPACES,
      limits: { ...DEFAULT_LIMITS, ...limits },
      host: ECHO,
      principal,
      signal,
      onLog,
      ...more,
    },
    queueMs: 0,
    seed: () => [1, 2, 3, 4],
    now: () => 1_000,
    release: (reusable) => void released.push(reusable),
  });
  return {
    child,
    sent,
    released,
    outcome,
    say: (kind, id = 0, text = "") => child.listener.frame({ kind, id, atMs: 0, text }),
  };
}

const NO_TAPE = { began: () => undefined, repeat: () => undefined, keep: () => undefined };

describe("a program that is shown again", () => {
  const past = [{ kind: "reply", id: 1, atMs: 5, text: "1" }] as const;
  const showing = (deliveries: readonly Delivery[], more: Partial<SandboxJob> = {}) =>
    play({}, undefined, undefined, { tape: { past: deliveries, isAll: true, ...NO_TAPE }, ...more });

  it("is asked whether it waits when it has all that it was given, and put away when it does", async () => {
    const { sent, say, outcome, released } = showing(past);
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START]);
    say(TO_HOST.CALL, 1, "files.read\n{}");
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START, TO_GUEST.REPLY, TO_GUEST.PING]);
    say(TO_HOST.CALL, 2, "files.read\n{}");
    say(TO_HOST.PONG);
    assert.deepEqual([codeOf((await outcome).ending), released], ["paused", [false]]);
  });
  it("that was given nothing is asked at once", async () => {
    const { sent, say, outcome } = showing([]);
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START, TO_GUEST.PING]);
    say(TO_HOST.PONG);
    assert.equal(codeOf((await outcome).ending), "paused");
  });
  it("ends with what a last call came to, though the answer was there first", async () => {
    const error = new GloveboxError("LIMIT_CALLS", "Too many");
    const { say, outcome } = showing([], { host: { call: () => Promise.reject(error) } });
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.PONG);
    assert.equal(codeOf((await outcome).ending), "LIMIT_CALLS");
  });
  it("may end before it answers, and its child is not used again", async () => {
    const { say, outcome, released } = showing([]);
    say(TO_HOST.DONE, 0, "1");
    say(TO_HOST.PONG);
    assert.deepEqual([codeOf((await outcome).ending), released], ["returned", [false]]);
  });
});

describe("what a program is given", () => {
  const keeping = (keep: Tape["keep"]) =>
    play({}, undefined, undefined, {
      tape: { past: [], ...NO_TAPE, keep },
      host: { call: (_, args) => Promise.resolve({ ok: true, json: String(args) }) },
    });
  const turn = (): Promise<unknown> => new Promise(setImmediate);

  it("is kept first, and comes in the order in which it is kept", async () => {
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
  it("is not given when it cannot be kept: the program ends", async () => {
    const { sent, say, outcome } = keeping(() => Promise.reject(new GloveboxError("STORE_UNAVAILABLE", "full")));
    say(TO_HOST.CALL, 1, "files.read\n1");
    assert.deepEqual([codeOf((await outcome).ending), kindsOf(sent)], ["STORE_UNAVAILABLE", [TO_GUEST.START]]);
  });
});

it("a program that answers what it was not asked is ended", async () => {
  const { sent, say, outcome } = play();
  assert.deepEqual(kindsOf(sent), [TO_GUEST.START]);
  say(TO_HOST.PONG);
  assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
});

function kindsOf(sent: readonly Sent[]): readonly number[] {
  return sent.map(({ kind }) => kind);
}

function codeOf(ending: Ending): string {
  return ending.kind === "failed" ? ending.error.code : ending.kind;
}

describe("the start", () => {
  it("tells the child the program, its tools, its input and its limits, and nothing else", async () => {
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

describe("an ending", () => {
  it("comes once; what the child says afterwards is not heard", async () => {
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
  it("of a program that threw leaves the child usable", async () => {
    const { say, outcome, released } = play();
    say(TO_HOST.THREW, 0, '{"kind":"thrown","message":"m"}');
    assert.equal((await outcome).ending.kind, "threw");
    assert.deepEqual(released, [true]);
  });
  it("answers no call and no timer that comes due later", async () => {
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

describe("a lying child", () => {
  const lies: readonly (readonly [string, number, number, string])[] = [
    ["a kind that there is none", 0, 0, ""],
    ["a kind of the host's own", TO_GUEST.START, 0, "{}"],
    ["a second readiness", TO_HOST.READY, 0, ""],
    ["a call out of turn", TO_HOST.CALL, 2, "files.read\n{}"],
    ["a call with the number 0", TO_HOST.CALL, 0, "files.read\n{}"],
    ["a call without arguments", TO_HOST.CALL, 1, "files.read"],
    ["a result that is no JSON", TO_HOST.DONE, 0, "{"],
    ["an error that is no JSON", TO_HOST.THREW, 0, "oops"],
    ["a limit that there is none", TO_HOST.OVERRUN, 0, "constructor"],
  ];
  for (const [name, kind, id, text] of lies) {
    it(`with ${name} has crashed and is not used again`, async () => {
      const { say, outcome, released } = play();
      say(kind, id, text);
      assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
      assert.deepEqual(released, [false]);
    });
  }
  it("about the number of a call that it repeats has crashed", async () => {
    const { say, outcome } = play();
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.CALL, 1, "files.read\n{}");
    assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
  });
  it("has a twin whose calls are answered under their numbers", async () => {
    const { say, outcome, sent } = play();
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.CALL, 2, 'files.write\n{"a":"\\n"}');
    await new Promise((resolve) => setImmediate(resolve));
    say(TO_HOST.DONE);
    await outcome;
    assert.deepEqual(sent.slice(1), [
      { kind: TO_GUEST.REPLY, id: 1, text: '{"address":"files.read","args":{}}' },
      { kind: TO_GUEST.REPLY, id: 2, text: '{"address":"files.write","args":{"a":"\\n"}}' },
    ]);
  });
  it("about its own size is counted by the host", async () => {
    const codes: unknown[] = [];
    for (const text of ['"3456789"', '"34567890"', '"345678901"']) {
      const { say, outcome } = play({ outputBytes: 8, resultBytes: 10 });
      say(TO_HOST.DONE, 0, text);
      const { ending, usage } = await outcome;
      codes.push([codeOf(ending), usage.outputBytes]);
    }
    assert.deepEqual(codes, [
      ["returned", 9],
      ["returned", 10],
      ["LIMIT_SIZE", 11],
    ]);
  });
  it("about the size of its logs is counted by the host", async () => {
    const { say, outcome } = play({ outputBytes: 10 });
    say(TO_HOST.LOG, 0, "123456");
    say(TO_HOST.LOG, 0, "12345");
    const { ending, usage } = await outcome;
    assert.equal(codeOf(ending), "LIMIT_SIZE");
    assert.equal(usage.outputBytes, 11);
  });
  it("about a line is passed on as it comes", async () => {
    const heard: string[] = [];
    const { say, outcome } = play({}, undefined, ({ text }) => void heard.push(text));
    say(TO_HOST.LOG, 0, "one");
    assert.deepEqual(heard, ["one"]);
    say(TO_HOST.DONE);
    await outcome;
  });
  it("about its own depth is measured by the host, below, at and above the limit", async () => {
    const codes: string[] = [];
    for (const text of ["[[1]]", "[[[1]]]", "[[[[1]]]]", `${"[".repeat(200_000)}${"]".repeat(200_000)}`]) {
      const { say, outcome } = play({ depth: 3 });
      say(TO_HOST.DONE, 0, text);
      codes.push(codeOf((await outcome).ending));
    }
    assert.deepEqual(codes, ["returned", "returned", "LIMIT_SIZE", "LIMIT_SIZE"]);
  });
  it("with a level that there is none writes a plain line", async () => {
    const { say, outcome } = play();
    for (const id of [4, 5, 0xffff_ffff]) say(TO_HOST.LOG, id, "x");
    say(TO_HOST.DONE);
    assert.deepEqual(
      (await outcome).logs.map(({ level }) => level),
      ["debug", "log", "log"],
    );
  });
  it("may write 10,000 empty lines, not one more", async () => {
    const codes: string[] = [];
    for (const lines of [10_000, 10_001]) {
      const { say, outcome } = play();
      for (let line = 0; line < lines; line += 1) say(TO_HOST.LOG);
      say(TO_HOST.DONE);
      codes.push(codeOf((await outcome).ending));
    }
    assert.deepEqual(codes, ["returned", "LIMIT_SIZE"]);
  });
  it("with a timer of any length is ended by the wall limit", async () => {
    for (const text of ["Infinity", "NaN", "-1e999", "x", "1e300"]) {
      const { say, outcome } = play({ wallMs: 10 });
      say(TO_HOST.TIMER, 1, text);
      assert.equal(codeOf((await outcome).ending), "LIMIT_TIME");
    }
  });
  it("about what it used is believed no nonsense", async () => {
    const { say, outcome } = play();
    say(TO_HOST.USAGE, 0, "Infinity -7");
    say(TO_HOST.USAGE, 0, "2500 4096");
    say(TO_HOST.DONE);
    const { usage } = await outcome;
    assert.deepEqual([usage.cpuMs, usage.peakMemoryBytes], [2.5, 4_096]);
  });
});

describe("a child that is gone", () => {
  it("ends its program with the reason, once", async () => {
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

describe("a signal that fired before the start", () => {
  it("ends the program at once", async () => {
    const { outcome, released } = play({}, AbortSignal.abort());
    assert.deepEqual((await outcome).ending, { kind: "cancelled" });
    assert.deepEqual(released, [false]);
  });
});

describe("a program that nothing can settle", () => {
  const stuck = JSON.stringify({ kind: "stuck", name: "Error", message: "stuck", stack: "" });
  for (const [share, kind] of [
    [0.79, "threw"],
    [0.81, "failed"],
  ] as const) {
    it(`${kind === "threw" ? "made a mistake" : "met its memory limit"} when it held ${share} of its memory`, async () => {
      const { say, outcome } = play();
      say(TO_HOST.USAGE, 0, `0 ${Math.round(DEFAULT_LIMITS.memoryBytes * share)}`);
      say(TO_HOST.THREW, 0, stuck);
      const { ending } = await outcome;
      assert.equal(ending.kind, kind);
      if (ending.kind === "failed") assert.equal(ending.error.code, "LIMIT_MEMORY");
    });
  }
});
