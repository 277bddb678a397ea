/** One timer and one listener for all calls: each ends at its own time, all end with the program. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createDeadlines } from "./deadlines.ts";
import type { WaitingCall } from "./deadlines.ts";

function open(callMs: number) {
  const ended = new AbortController();
  const deadlines = createDeadlines({ limits: { callMs }, signal: ended.signal });
  const errors: [string, string][] = [];
  const begin = (tool: string): WaitingCall => deadlines.open(tool, ({ code }) => errors.push([tool, code]));
  return { deadlines, ended, errors, begin };
}

describe("the deadlines of calls", () => {
  it("end a call that is due and no later one, which has its own time", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let now = 0;
    t.mock.method(performance, "now", () => now);
    const { errors, begin } = open(100);
    const pass = (ms: number): void => {
      now += ms;
      t.mock.timers.tick(ms);
    };
    const first = begin("first");
    pass(60);
    const second = begin("second");
    pass(38);
    assert.deepEqual([errors, first.abort.signal.aborted], [[], false]);
    pass(3);
    assert.deepEqual(errors, [["first", "UPSTREAM_TIMEOUT"]]);
    assert.deepEqual([first.abort.signal.aborted, second.abort.signal.aborted], [true, false]);
    pass(57);
    assert.equal(errors.length, 1);
    pass(5);
    assert.deepEqual(errors.at(-1), ["second", "UPSTREAM_TIMEOUT"]);
  });

  it("leave a call alone that was answered, also when the timer of an earlier one is still set", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let now = 0;
    t.mock.method(performance, "now", () => now);
    const { deadlines, errors, begin } = open(100);
    assert.equal(deadlines.close(begin("answered")), true);
    now = 90;
    t.mock.timers.tick(90);
    const late = begin("late");
    now = 150;
    t.mock.timers.tick(60);
    assert.deepEqual(errors, []);
    now = 195;
    t.mock.timers.tick(45);
    assert.deepEqual(errors, [["late", "UPSTREAM_TIMEOUT"]]);
    assert.equal(deadlines.close(late), false, "an answer after the deadline comes too late");
  });

  it("end all calls when the program ends, and begin none afterwards", () => {
    const { ended, errors, begin } = open(60_000);
    const calls = [begin("one"), begin("two")];
    ended.abort();
    assert.deepEqual(errors, [
      ["one", "REQUEST_CANCELLED"],
      ["two", "REQUEST_CANCELLED"],
    ]);
    assert.ok(calls.every(({ abort }) => abort.signal.aborted));
    assert.throws(() => begin("three"), { code: "REQUEST_CANCELLED" });
  });

  it("do not keep the process alive once no call waits", () => {
    const { deadlines, begin } = open(60_000);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const call = begin("one");
    assert.equal(timers(), before + 1);
    deadlines.close(call);
    assert.equal(timers(), before);
    const again = begin("two");
    assert.equal(timers(), before + 1);
    deadlines.close(again);
  });
});
