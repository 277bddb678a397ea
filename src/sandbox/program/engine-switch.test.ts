/** A program that changes its engine, with two children that are played: who has it when, and what neither may gain. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import type { EngineName, LogLine, Reply } from "../../domain/index.ts";
import { codeOf, kindsOf, play, playChild } from "../fixtures/play-child.ts";
import type { Sent } from "../fixtures/play-child.ts";
import { NOTHING_MEASURED } from "../measure.ts";
import type { FasterChild } from "../child-lease.ts";
import type { SandboxJob } from "../sandbox.ts";
import { SWITCH_TO_COMPUTE, TO_GUEST, TO_HOST } from "../wire.ts";
import { MOST_REQUESTS, SWITCH_AFTER_MS } from "./engine-switch.ts";
import { MOST_TRACED_BYTES } from "./program-history.ts";

const READ = "files.read\n{}";
const GUARD = "localeCompare";
const ENGINE_ERROR = JSON.stringify({ kind: "thrown", name: "TypeError", message: "quickjs words", stack: "" });

const turn = (): Promise<unknown> => new Promise(setImmediate);

interface SwitchedJob extends Partial<SandboxJob> {
  /** How many requests find no ready child. */
  readonly notReady?: number;
  readonly unavailable?: boolean;
}

/** A program in QuickJS, beside a child of V8 that is ready. Calls are answered one by one by `reply`. */
function playBoth({ notReady = 0, unavailable = false, ...job }: SwitchedJob = {}) {
  const calls: { readonly seq: number; readonly reply: (json: string) => void }[] = [];
  const host = {
    call: (_address: unknown, _args: unknown, seq: number): Promise<Reply> =>
      new Promise((resolve) => void calls.push({ seq, reply: (json) => resolve({ ok: true, json }) })),
  };
  const v8 = playChild();
  const events: string[] = [];
  const waits: boolean[] = [];
  const lines: LogLine[] = [];
  const takeFaster = async (mustWait: boolean): Promise<FasterChild | undefined> => {
    waits.push(mustWait);
    if (unavailable) throw new GloveboxError("SANDBOX_UNAVAILABLE", "no");
    if (!mustWait && waits.length <= notReady) return undefined;
    return {
      child: v8.child,
      engine: "isolate",
      baseline: NOTHING_MEASURED,
      drop: () => void events.push("dropped"),
      takeOver: () => {
        events.push("took over");
        Object.assign(played.held, { child: v8.child, engine: "isolate" });
      },
    };
  };
  const engines: EngineName[] = [];
  const switched = (engine: EngineName): void => void engines.push(engine);
  const tape = { past: [], began: () => undefined, repeat: () => undefined, keep: () => undefined, switched };
  const freeChild = (reusable: boolean): void => void events.push(reusable ? "freed" : "ended");
  const lease = { takeFaster, freeChild };
  const played = play({}, undefined, (line) => void lines.push(line), { host, tape, lease, ...job });
  played.held.engine = "quickjs";
  const ask = async (reason = SWITCH_TO_COMPUTE): Promise<void> => {
    played.say(TO_HOST.SWITCH, 0, reason);
    await turn();
  };
  return { ...played, v8, events, calls, waits, lines, engines, ask };
}

function idsOf(sent: readonly Sent[]): readonly (readonly [number, number])[] {
  return sent.map(({ kind, id }) => [kind, id]);
}

describe("a program that asks for the faster engine", () => {
  it("a program that has done nothing yet is the other engine's at once", async () => {
    const { sent, v8, events, ask, outcome, engines, released } = playBoth();
    assert.match(sent[0]?.text ?? "", new RegExp(`"switching":\\{"afterMs":${SWITCH_AFTER_MS}\\}`));
    await ask();
    assert.deepEqual([kindsOf(sent), kindsOf(v8.sent)], [[TO_GUEST.START, TO_GUEST.END], [TO_GUEST.START]]);
    assert.doesNotMatch(v8.sent[0]?.text ?? "", /switching/);
    v8.say(TO_HOST.DONE, 0, "1");
    const { ending, engine, usage } = await outcome;
    assert.deepEqual([codeOf(ending), engine, usage.switches], ["returned", "isolate", 1]);
    assert.deepEqual([events, engines, released], [["took over"], ["isolate"], [true]]);
  });

  it("the other engine repeats calls, timers and lines, gets their answers in order, and continues", async () => {
    const { say, sent, v8, calls, lines, ask, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    say(TO_HOST.LOG, 0, "line");
    say(TO_HOST.TIMER, 1, "100000");
    calls[0]?.reply("1");
    await turn();
    say(TO_HOST.CALL, 2, READ);
    await ask();
    assert.deepEqual(kindsOf(v8.sent), [TO_GUEST.START]);
    v8.say(TO_HOST.CALL, 1, READ);
    assert.deepEqual(idsOf(v8.sent.slice(1)), [[TO_GUEST.REPLY, 1]]);
    v8.say(TO_HOST.LOG, 0, "line");
    v8.say(TO_HOST.TIMER, 1, "100000");
    assert.deepEqual(kindsOf(sent).at(-1), TO_GUEST.REPLY, "QuickJS still waits");
    v8.say(TO_HOST.CALL, 2, READ);
    assert.deepEqual(kindsOf(sent).at(-1), TO_GUEST.END);
    assert.equal(calls.length, 2, "no call was made again");
    v8.say(TO_HOST.CALL, 3, READ);
    v8.say(TO_HOST.LOG, 0, "another line");
    v8.say(TO_HOST.DONE, 0, "1");
    const { logs } = await outcome;
    assert.deepEqual(
      [calls.map(({ seq }) => seq), logs.map(({ text }) => text)],
      [
        [1, 2, 3],
        ["line", "another line"],
      ],
    );
    assert.deepEqual(
      lines.map(({ text }) => text),
      ["line", "another line"],
      "no line is reported twice",
    );
  });

  it("an answer that arrives during the change waits and goes to the engine that has the program then", async () => {
    const { say, sent, v8, calls, ask } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    await ask();
    calls[0]?.reply("1");
    await turn();
    assert.deepEqual([kindsOf(sent), kindsOf(v8.sent)], [[TO_GUEST.START], [TO_GUEST.START]]);
    v8.say(TO_HOST.CALL, 1, READ);
    assert.deepEqual(idsOf(v8.sent.slice(1)), [[TO_GUEST.REPLY, 1]]);
    assert.deepEqual(kindsOf(sent), [TO_GUEST.START, TO_GUEST.END]);
  });

  it("a tick that is due during the change waits, too", async () => {
    const { say, v8, ask } = playBoth();
    say(TO_HOST.TIMER, 1, "0");
    say(TO_HOST.CALL, 1, READ);
    await ask();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(kindsOf(v8.sent), [TO_GUEST.START]);
    v8.say(TO_HOST.TIMER, 1, "0");
    v8.say(TO_HOST.CALL, 1, READ);
    assert.deepEqual(idsOf(v8.sent.slice(1)), [[TO_GUEST.TICK, 1]]);
  });

  it("a program that only computes continues while no child is ready, and asks again later", async () => {
    const { sent, v8, waits, ask } = playBoth({ notReady: 2 });
    for (const times of [1, 2, 4]) {
      await ask();
      if (times < 4)
        assert.deepEqual(sent.at(-1), { kind: TO_GUEST.CONTINUE, id: 0, text: String(SWITCH_AFTER_MS * times) });
    }
    assert.deepEqual([waits, kindsOf(v8.sent)], [[false, false, false], [TO_GUEST.START]]);
  });

  it("a program that needs what only the other engine has waits for a child", async () => {
    const { v8, waits, ask } = playBoth({ notReady: 9 });
    await ask(GUARD);
    assert.deepEqual([waits, kindsOf(v8.sent)], [[true], [TO_GUEST.START]]);
  });
});

describe("a difference between the engines", () => {
  for (const [name, kind, id, text] of [
    ["calls something else", TO_HOST.CALL, 1, "files.write\n{}"],
    ["writes another line", TO_HOST.LOG, 0, "other"],
    ["starts a timer", TO_HOST.TIMER, 1, "5"],
    ["returns", TO_HOST.DONE, 0, "7"],
    ["throws", TO_HOST.THREW, 0, ENGINE_ERROR],
    ["exceeds a limit", TO_HOST.OVERRUN, 0, "memory"],
    ["sends an unknown frame", 99, 0, ""],
    ["answers a ping that was not sent", TO_HOST.PONG, 0, ""],
    ["asks for another engine, too", TO_HOST.SWITCH, 0, GUARD],
  ] as const)
    it(`a program stays in QuickJS if V8 ${name}`, async () => {
      const { say, sent, v8, calls, events, ask, outcome } = playBoth();
      say(TO_HOST.CALL, 1, READ);
      say(TO_HOST.LOG, 0, "line");
      await ask(GUARD);
      calls[0]?.reply("1");
      await turn();
      if (kind === TO_HOST.LOG) v8.say(TO_HOST.CALL, 1, READ);
      v8.say(kind, id, text);
      assert.deepEqual(idsOf(sent.slice(1)), [
        [TO_GUEST.CONTINUE, 0],
        [TO_GUEST.REPLY, 1],
      ]);
      assert.deepEqual([sent[1]?.text, events, calls.length], ["", ["dropped"], 1]);
      v8.say(TO_HOST.DONE, 0, "8");
      say(TO_HOST.DONE, 0, "1");
      const { ending, engine, usage, logs } = await outcome;
      assert.deepEqual([ending, engine, usage.switches], [{ kind: "returned", value: 1 }, "quickjs", 0]);
      assert.equal(logs.length, 1);
    });

  it("a program stays in QuickJS if the child of V8 dies before it is as far", async () => {
    const { say, sent, v8, ask, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    await ask();
    v8.child.listener.gone(new GloveboxError("SANDBOX_CRASHED", "killed"));
    assert.equal(sent.at(-1)?.kind, TO_GUEST.CONTINUE);
    say(TO_HOST.DONE, 0, "1");
    assert.equal(codeOf((await outcome).ending), "returned");
  });

  it("a program stays in QuickJS if V8 cannot start", async () => {
    const { say, sent, ask, outcome } = playBoth({ unavailable: true });
    await ask(GUARD);
    assert.deepEqual(sent.at(-1), { kind: TO_GUEST.CONTINUE, id: 0, text: "" });
    say(TO_HOST.DONE, 0, "1");
    assert.equal(codeOf((await outcome).ending), "returned");
  });
});

describe("a program that ends with an error of its engine", () => {
  it("is run again, and V8's error is the answer", async () => {
    const { say, v8, events, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    say(TO_HOST.THREW, 0, ENGINE_ERROR);
    await turn();
    v8.say(TO_HOST.CALL, 1, READ);
    v8.say(TO_HOST.THREW, 0, ENGINE_ERROR.replace("quickjs words", "V8 words"));
    const { ending, engine, usage } = await outcome;
    assert.ok(ending.kind === "threw" && ending.thrown.message === "V8 words");
    assert.deepEqual([engine, usage.switches, events], ["isolate", 1, ["freed", "took over"]]);
  });
  it("keeps its error if V8 does something else before", async () => {
    const { say, v8, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    say(TO_HOST.THREW, 0, ENGINE_ERROR);
    await turn();
    v8.say(TO_HOST.DONE, 0, "1");
    const { ending, engine } = await outcome;
    assert.ok(ending.kind === "threw" && ending.thrown.message === "quickjs words");
    assert.equal(engine, "quickjs");
  });
  it("does not leave a child to others that may answer a ping later", async () => {
    const { say, events, v8, outcome } = playBoth({
      tape: { past: [], endsWithPast: true, began: () => undefined, repeat: () => undefined, keep: () => undefined },
    });
    say(TO_HOST.THREW, 0, ENGINE_ERROR);
    await turn();
    assert.deepEqual(
      [events, kindsOf(v8.sent)],
      [
        ["ended", "took over"],
        [TO_GUEST.START, TO_GUEST.PING],
      ],
    );
    v8.say(TO_HOST.PONG);
    assert.equal(codeOf((await outcome).ending), "paused");
  });
  it("continues in V8 without the error", async () => {
    const { say, v8, calls, outcome } = playBoth();
    say(TO_HOST.THREW, 0, JSON.stringify({ kind: "syntax", name: "SyntaxError", message: "", stack: "" }));
    await turn();
    v8.say(TO_HOST.CALL, 1, READ);
    v8.say(TO_HOST.DONE, 0, "1");
    assert.deepEqual([codeOf((await outcome).ending), calls.length], ["returned", 1]);
  });
  for (const [name, thrown] of [
    ["the failure of a tool", { kind: "thrown", name: "ToolError", message: "no", stack: "", seq: 1, code: "X" }],
    ["an error class of its own", { kind: "thrown", name: "OwnError", message: "no", stack: "" }],
    ["a value that is not an error", { kind: "thrown", name: "", message: "no", stack: "" }],
    ["a result that contains a promise", { kind: "unserializable", name: "TypeError", message: "no", stack: "" }],
  ] as const)
    it(`${name} is answered at once`, async () => {
      const { say, v8, outcome } = playBoth();
      say(TO_HOST.THREW, 0, JSON.stringify(thrown));
      assert.equal(codeOf((await outcome).ending), "threw");
      assert.deepEqual(v8.sent, []);
    });
});

describe("a large delivery", () => {
  const ENTRY_BYTES = 64;
  const room = MOST_TRACED_BYTES - 2 * ENTRY_BYTES - READ.length;
  for (const [what, size, changes] of [
    ["one byte below", room - 1, false],
    ["exactly", room, false],
    ["one byte above", room + 1, true],
  ] as const)
    it(`a delivery that makes the history ${what} its size ${changes ? "goes to V8" : "stays in QuickJS"}`, async () => {
      const { say, sent, v8, calls, waits } = playBoth();
      say(TO_HOST.CALL, 1, READ);
      calls[0]?.reply("x".repeat(size));
      await turn();
      await turn();
      v8.say(TO_HOST.CALL, 1, READ);
      const [to, from] = changes ? [v8.sent, sent] : [sent, v8.sent];
      assert.deepEqual([to.at(-1)?.kind, to.at(-1)?.text.length], [TO_GUEST.REPLY, size]);
      assert.ok(from.every(({ kind }) => kind !== TO_GUEST.REPLY));
      assert.deepEqual(waits, changes ? [true] : []);
    });
  it("a program that returns meanwhile has returned", async () => {
    const { say, events, calls, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    calls[0]?.reply("x".repeat(MOST_TRACED_BYTES));
    await turn();
    await turn();
    say(TO_HOST.DONE, 0, "1");
    const { ending, engine } = await outcome;
    assert.deepEqual([codeOf(ending), engine, events], ["returned", "quickjs", ["dropped"]]);
  });
});

describe("a program that ends during the change", () => {
  it("a program that is cancelled during the change loses both children", async () => {
    const cancel = new AbortController();
    const { say, ask, events, outcome, released } = playBoth({ signal: cancel.signal });
    say(TO_HOST.CALL, 1, READ);
    await ask();
    cancel.abort();
    assert.deepEqual([codeOf((await outcome).ending), events, released], ["cancelled", ["dropped"], [false]]);
  });
  it("a program that is suspended during the change loses both children", async () => {
    const away = new AbortController();
    const { say, ask, events, outcome, released } = playBoth({ suspend: away.signal });
    say(TO_HOST.CALL, 1, READ);
    await ask();
    away.abort();
    assert.deepEqual([codeOf((await outcome).ending), events, released], ["paused", ["dropped"], [false]]);
  });
  it("a program whose own child dies during the change has crashed", async () => {
    const { say, child, ask, events, outcome } = playBoth();
    say(TO_HOST.CALL, 1, READ);
    await ask();
    child.listener.gone(new GloveboxError("SANDBOX_CRASHED", "killed"));
    assert.deepEqual([codeOf((await outcome).ending), events], ["SANDBOX_CRASHED", ["dropped"]]);
  });
  it("a child that is found after the end is dropped", async () => {
    const cancel = new AbortController();
    const { say, events, v8, outcome } = playBoth({ signal: cancel.signal });
    say(TO_HOST.SWITCH, 0, GUARD);
    cancel.abort();
    assert.equal(codeOf((await outcome).ending), "cancelled");
    await turn();
    assert.deepEqual([events, v8.sent], [["dropped"], []]);
  });
});

describe("a hostile child", () => {
  for (const [name, kind, id, text] of [
    ["calls", TO_HOST.CALL, 1, READ],
    ["returns", TO_HOST.DONE, 0, "1"],
    ["asks again", TO_HOST.SWITCH, 0, GUARD],
    ["writes a line", TO_HOST.LOG, 0, "line"],
  ] as const)
    it(`a child that ${name} while it waits for an answer counts as crashed`, async () => {
      const { say, outcome } = playBoth();
      say(TO_HOST.SWITCH, 0, GUARD);
      say(kind, id, text);
      assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
    });
  it("a child that asks again after the last answer counts as crashed", async () => {
    const { ask, outcome } = playBoth({ unavailable: true });
    await ask();
    await ask();
    assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
  });
  for (const [times, code] of [
    [MOST_REQUESTS, "returned"],
    [MOST_REQUESTS + 1, "SANDBOX_CRASHED"],
  ] as const)
    it(`a child that asks ${times} times has ${code === "returned" ? "done nothing wrong" : "crashed"}`, async () => {
      const { ask, say, outcome } = playBoth({ notReady: Infinity });
      for (let count = 0; count < times; count += 1) await ask();
      say(TO_HOST.DONE, 0, "1");
      assert.equal(codeOf((await outcome).ending), code);
    });
  it("a child of an engine without a faster one that asks counts as crashed", async () => {
    const { say, outcome } = play();
    say(TO_HOST.SWITCH, 0, GUARD);
    assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
  });
  it("the child that took over cannot ask back", async () => {
    const { ask, v8, outcome } = playBoth();
    await ask();
    v8.say(TO_HOST.SWITCH, 0, GUARD);
    assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
  });
  it("what the first child sends after the change is ignored", async () => {
    const { ask, child, say, v8, calls, outcome } = playBoth();
    await ask();
    child.listener = { frame: () => undefined, gone: () => undefined }; // as the pool does
    say(TO_HOST.CALL, 1, READ);
    v8.say(TO_HOST.DONE, 0, "1");
    assert.deepEqual([codeOf((await outcome).ending), calls.length], ["returned", 0]);
  });
});
