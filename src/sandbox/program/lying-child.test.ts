/** The host's end of the wire against a child that lies: every frame it can think of is an ending, never a fault. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { codeOf, play } from "../fixtures/play-child.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

describe("a compromised child", () => {
  const lies: readonly (readonly [string, number, number, string])[] = [
    ["a kind that there is none", 0, 0, ""],
    ["a kind of the host's own", TO_GUEST.START, 0, "{}"],
    ["a second readiness", TO_HOST.READY, 0, ""],
    ["a call out of turn", TO_HOST.CALL, 2, "files.read\n{}"],
    ["a call with the number 0", TO_HOST.CALL, 0, "files.read\n{}"],
    ["a call without arguments", TO_HOST.CALL, 1, "files.read"],
    ["a result that is not JSON", TO_HOST.DONE, 0, "{"],
    ["an error that is not JSON", TO_HOST.THREW, 0, "oops"],
    ["a limit that there is none", TO_HOST.OVERRUN, 0, "constructor"],
  ];
  for (const [name, kind, id, text] of lies) {
    it(`a compromised child counts as crashed and is not reused after ${name}`, async () => {
      const { say, outcome, released } = play();
      say(kind, id, text);
      assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
      assert.deepEqual(released, [false]);
    });
  }
  it("a child is released once its large value was read, and gets its next frame then", async () => {
    const { say, outcome, released, child } = play();
    const large = JSON.stringify("x".repeat(200_000));
    const frames: number[] = [];
    say(TO_HOST.DONE, 0, large);
    say(TO_HOST.READY);
    assert.deepEqual(released, []);
    const { listener } = child;
    const ended = outcome.then(() => frames.length);
    child.listener = { ...listener, frame: (frame) => void frames.push(frame.kind) };
    assert.deepEqual([(await outcome).ending, await ended], [{ kind: "returned", value: JSON.parse(large) }, 1]);
    assert.deepEqual([released, frames], [[true], [TO_HOST.READY]]);
  });
  it("a child may answer a PING after its large value and its readiness", async () => {
    const none = (): undefined => undefined;
    const tape = { past: [], endsWithPast: true, began: none, repeat: none, keep: none };
    const { say, outcome, released, rests } = play({}, undefined, undefined, { tape });
    const large = JSON.stringify("x".repeat(200_000));
    say(TO_HOST.DONE, 0, large);
    say(TO_HOST.READY);
    say(TO_HOST.PONG);
    assert.deepEqual((await outcome).ending, { kind: "returned", value: JSON.parse(large) });
    assert.deepEqual([released, rests.map(({ pongs }) => pongs)], [[true], [1]]);
  });
  for (const [name, frames] of [
    ["another value", [TO_HOST.DONE]],
    ["a second readiness", [TO_HOST.READY, TO_HOST.READY]],
    ["an answer to no PING", [TO_HOST.READY, TO_HOST.PONG]],
  ] as const) {
    it(`a compromised child counts as crashed and is not reused if its large value is followed by ${name}`, async () => {
      const { say, outcome, released } = play();
      say(TO_HOST.DONE, 0, JSON.stringify("x".repeat(200_000)));
      for (const kind of frames) say(kind, 0, "1");
      assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
      assert.deepEqual(released, [false]);
    });
  }
  it("a compromised child is not reused after a large value that is not JSON, too deep or too wide", async () => {
    const pad = JSON.stringify("x".repeat(200_000));
    const wide = `{${Array.from({ length: 50_001 }, (_, at) => `"${at}":0`).join(",")}}`;
    const codes: string[] = [];
    for (const text of [`[${pad},]`, `[${pad},${"[".repeat(64)}${"]".repeat(64)}]`, wide]) {
      const { say, outcome, released } = play();
      say(TO_HOST.DONE, 0, text);
      codes.push(codeOf((await outcome).ending), String(released));
    }
    assert.deepEqual(codes, ["SANDBOX_CRASHED", "false", "LIMIT_SIZE", "false", "LIMIT_SIZE", "false"]);
  });
  it("a compromised child counts as crashed after it repeats the number of a call", async () => {
    const { say, outcome } = play();
    say(TO_HOST.CALL, 1, "files.read\n{}");
    say(TO_HOST.CALL, 1, "files.read\n{}");
    assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
  });
  it("a child gets answers to honest calls by their numbers (positive control)", async () => {
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
  it("a compromised child cannot exceed the size of a result: the host counts", async () => {
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
  it("a compromised child cannot exceed the size of logs: the host counts", async () => {
    const { say, outcome } = play({ outputBytes: 10 });
    say(TO_HOST.LOG, 0, "123456");
    say(TO_HOST.LOG, 0, "12345");
    const { ending, usage } = await outcome;
    assert.equal(codeOf(ending), "LIMIT_SIZE");
    assert.equal(usage.outputBytes, 11);
  });
  it("the host passes each log line on as it arrives", async () => {
    const heard: string[] = [];
    const { say, outcome } = play({}, undefined, ({ text }) => void heard.push(text));
    say(TO_HOST.LOG, 0, "one");
    assert.deepEqual(heard, ["one"]);
    say(TO_HOST.DONE);
    await outcome;
  });
  it("a compromised child cannot exceed the depth of a result: below, at and above the limit", async () => {
    const codes: string[] = [];
    for (const text of ["[[1]]", "[[[1]]]", "[[[[1]]]]", `${"[".repeat(200_000)}${"]".repeat(200_000)}`]) {
      const { say, outcome } = play({ depth: 3 });
      say(TO_HOST.DONE, 0, text);
      codes.push(codeOf((await outcome).ending));
    }
    assert.deepEqual(codes, ["returned", "returned", "LIMIT_SIZE", "LIMIT_SIZE"]);
  });
  it("the host writes a plain line for an unknown log level", async () => {
    const { say, outcome } = play();
    for (const id of [4, 5, 0xffff_ffff]) say(TO_HOST.LOG, id, "x");
    say(TO_HOST.DONE);
    assert.deepEqual(
      (await outcome).logs.map(({ level }) => level),
      ["debug", "log", "log"],
    );
  });
  it("a compromised child can write 10,000 empty lines and not one more", async () => {
    const codes: string[] = [];
    for (const lines of [10_000, 10_001]) {
      const { say, outcome } = play();
      for (let line = 0; line < lines; line += 1) say(TO_HOST.LOG);
      say(TO_HOST.DONE);
      codes.push(codeOf((await outcome).ending));
    }
    assert.deepEqual(codes, ["returned", "LIMIT_SIZE"]);
  });
  it("the wall limit ends a compromised child, whatever timer it sets", async () => {
    for (const text of ["Infinity", "NaN", "-1e999", "x", "1e300"]) {
      const { say, outcome } = play({ wallMs: 10 });
      say(TO_HOST.TIMER, 1, text);
      assert.equal(codeOf((await outcome).ending), "LIMIT_TIME");
    }
  });
  it("a compromised child cannot report nonsense usage", async () => {
    const { say, outcome } = play();
    say(TO_HOST.USAGE, 0, "Infinity -7");
    say(TO_HOST.USAGE, 0, "2500 4096");
    say(TO_HOST.DONE);
    const { usage } = await outcome;
    assert.deepEqual([usage.cpuMs, usage.peakMemoryBytes], [2.5, 4_096]);
  });
});
