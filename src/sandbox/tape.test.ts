/** Programs that are given what they were given before: the same again, on every engine, cut at every step. */

import assert from "node:assert/strict";
import { after, describe, it as plainIt } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import { ENGINES, itOn } from "./fixtures/engines.ts";
import { countingHost, tapedProgram } from "./fixtures/taped-program.ts";
import { openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { GuestHost, SandboxResult } from "./sandbox.ts";
import { playLoosely, playTape } from "./tape.ts";
import type { Delivery, Tape, TapeStart } from "./tape.ts";

const PROGRAM = tapedProgram(1);
/** Answers later calls of one moment first. */
const createHost = (): ReturnType<typeof countingHost> => countingHost((seq) => (10 - (seq % 10)) * 2);

interface Kept {
  readonly start: TapeStart | undefined;
  readonly past: readonly Delivery[];
  readonly requests: ReadonlyMap<number, string>;
}

function createTape({ start, past, requests }: Kept) {
  const kept = { start, past: [...past], requests: new Map(requests) };
  const tape: Tape = {
    ...(start && { start }),
    past,
    began: (from) => void (kept.start = from),
    repeat(id, text) {
      if (requests.get(id) !== text) throw new GloveboxError("REPLAY_DIVERGED", `call ${id}`);
    },
    keep: (delivery) => void kept.past.push(delivery),
  };
  const watch = (host: GuestHost): GuestHost => ({
    call(address, args, seq) {
      kept.requests.set(seq, `${String(address)}\n${String(args)}`);
      return host.call(address, args, seq);
    },
  });
  return { tape, watch, kept };
}

const NOTHING: Kept = { start: undefined, past: [], requests: new Map() };

function outcomeOf({ ending, logs }: SandboxResult) {
  return { ending, logs: logs.map(({ text }) => text) };
}

for (const engine of ENGINES) {
  const it = itOn(engine);
  const { sandbox, run, pids } = await openTestSandbox({}, engine);
  const play = async (from: Kept, host: GuestHost, program = PROGRAM) => {
    const { tape, watch, kept } = createTape(from);
    return { result: await run(program, { tape, host: watch(host) }), kept };
  };

  describe(`${engine}: a program with a tape`, () => {
    after(() => sandbox.close());

    it("a program with a tape repeats its run without a single call", async () => {
      const { result, kept } = await play(NOTHING, createHost());
      assert.equal(result.ending.kind, "returned");
      assert.equal(kept.past.length, 8);
      const again = createHost();
      const { result: second, kept: unchanged } = await play(kept, again);
      assert.deepEqual(outcomeOf(second), outcomeOf(result));
      assert.deepEqual([again.made, unchanged.past], [[], kept.past]);
    });

    it("a program with a tape resumes where it ends and makes only the unanswered calls", async () => {
      const { kept } = await play(NOTHING, createHost());
      for (let cut = 0; cut <= kept.past.length; cut += 1) {
        const past = kept.past.slice(0, cut);
        const host = createHost();
        const { result, kept: whole } = await play({ ...kept, past }, host);
        assert.equal(result.ending.kind, "returned", `cut at ${cut}`);
        assert.deepEqual(whole.past.slice(0, cut), past);
        const answered = past.flatMap(({ kind, id }) => (kind === "tick" ? [] : [id]));
        const repeated = host.made.map((call) => Number(call.split(" ")[0])).filter((id) => answered.includes(id));
        assert.deepEqual(repeated, [], `cut at ${cut}`);
      }
    });

    it("a program with a tape ends with REPLAY_DIVERGED if it makes another call or ends too early", async () => {
      const { kept } = await play(NOTHING, createHost());
      const other = await play(kept, createHost(), PROGRAM.replace('call("read", 3)', 'call("read", 33)'));
      const early = await play(kept, createHost(), "return 1");
      for (const { result } of [other, early]) {
        assert.equal(result.ending.kind, "failed");
        assert.equal(result.ending.error.code, "REPLAY_DIVERGED");
      }
      const same = await play(kept, createHost(), PROGRAM.replace("last: Math.random()", "last: 0"));
      assert.equal(same.result.ending.kind, "returned", "what it makes of its answers is its own business");
    });

    it("a program with improvised answers reaches neither the host nor a clock, in any order of its own", async () => {
      const made: string[] = [];
      const { kept } = await play(NOTHING, createHost());
      const tape: Tape = {
        ...createTape(NOTHING).tape,
        ...(kept.start && { start: kept.start }),
        repeat: (_, text) => void made.push(text),
        improvise: (kind, id) => {
          const delivery = { kind: kind === "call" ? ("reply" as const) : ("tick" as const), id, atMs: 5_000_000 };
          return {
            delivery: { ...delivery, text: kind === "call" ? `{"n":${id * 10}}` : "" },
            turn: id === 2 ? 1 : Infinity,
          };
        },
      };
      const host: GuestHost = { call: () => Promise.reject(new TypeError("the host was called")) };
      const code = `const slow = new Promise((done) => setTimeout(done, 3_600_000));
        const some = await Promise.all([files.read({ n: 1 }), files.write({ n: 2 })]); await slow;
        return [some.map(({ n }) => n), (await files.read({ n: 3 })).n];`;
      const { ending } = await run(code, { tape, host });
      assert.deepEqual(ending, { kind: "returned", value: [[10, 20], 30] });
      assert.deepEqual(made, ['files.read\n{"n":1}', 'files.write\n{"n":2}', 'files.read\n{"n":3}']);
    });

    it("a program that returns before it answers a PING leaves its child to the next one", async () => {
      await run("return 1");
      const before = [...pids];
      for (let n = 0; n < 5; n += 1) {
        const { tape } = createTape(NOTHING);
        const { ending } = await run(`return ${n}`, { tape: { ...tape, endsWithPast: true } });
        assert.deepEqual(ending, { kind: "returned", value: n });
      }
      assert.deepEqual(
        before.filter((pid) => !pids.has(pid)),
        [],
      );
    });

    it("a program with a tape is suspended on request, and others run as before", async () => {
      const away = new AbortController();
      const { tape, watch } = createTape(NOTHING);
      const host = watch({
        call: () => {
          setImmediate(() => away.abort());
          return new Promise(() => undefined);
        },
      });
      const { ending } = await run(PROGRAM, { tape, host, suspend: away.signal });
      assert.deepEqual(ending, { kind: "paused" });
      const { result } = await play(NOTHING, createHost());
      assert.equal(result.ending.kind, "returned", "others run as before");
    });
  });
}

describe("a player", () => {
  const reply = (id: number): Delivery => ({ kind: "reply", id, atMs: id, text: "" });
  const tick = (id: number): Delivery => ({ kind: "tick", id, atMs: id, text: "" });

  plainIt("playTape gives deliveries in order, each once it was requested", () => {
    const given: Delivery[] = [];
    const player = playTape([reply(2), tick(1), reply(1)], (delivery) => void given.push(delivery));
    player.ask("call", 1);
    assert.deepEqual(given, []);
    player.ask("timer", 1);
    assert.deepEqual(given, []);
    player.ask("call", 2);
    assert.deepEqual(given, [reply(2), tick(1), reply(1)]);
    assert.equal(player.isOver(), true);
  });

  plainIt(
    "playLoosely gives answers in their usual order, and leaves out what a program that waits does not ask for",
    () => {
      const given: number[] = [];
      let pings = 0;
      const turns = [Infinity, 0, 1, 2, Infinity];
      const player = playLoosely(
        (_, id) => ({ delivery: reply(id), turn: turns[id] ?? Infinity }),
        ({ id }) => void given.push(id),
        () => void (pings += 1),
      );
      assert.deepEqual([player.knows("call", 1), player.takePong()], [true, false]);
      player.ask("call", 2); // the answer to call 1 comes first, if the program makes it
      assert.deepEqual([given, pings, player.isPinged], [[], 1, true]);
      player.ask("call", 1);
      assert.deepEqual([given, pings], [[1, 2], 1]);
      player.ask("call", 4);
      assert.equal(player.takePong(), true); // sent before call 1 was answered: it proves nothing
      assert.deepEqual([given, pings], [[1, 2], 2]);
      assert.equal(player.takePong(), true);
      assert.deepEqual([given, player.isPinged], [[1, 2, 4], false]);
      player.ask("call", 3);
      assert.deepEqual(given, [1, 2, 4, 3]);
    },
  );

  plainIt("playLoosely gives answers without a usual place by their time, and the clock never goes back", () => {
    const given: string[] = [];
    const clocks: number[] = [];
    const turns = [Infinity, 0, Infinity, 1];
    const times = [0, 10, 30, 20];
    const player = playLoosely(
      (_, id, __, nowMs) => {
        clocks.push(nowMs);
        return { delivery: { ...tick(id), atMs: times[id] ?? 5 }, turn: turns[id] ?? Infinity };
      },
      ({ id, atMs }) => void given.push(`${id} at ${atMs}`),
      () => undefined,
    );
    for (const id of [2, 1, 3]) player.ask("timer", id);
    assert.deepEqual(given, ["1 at 10", "3 at 20"]);
    player.ask("timer", 4);
    for (let pong = 0; pong < 3; pong += 1) player.takePong();
    assert.deepEqual(given.slice(2), ["4 at 20", "2 at 30"]);
    assert.deepEqual(clocks, [0, 0, 10, 20]);
  });

  plainIt("lets nothing new happen before the past is over", () => {
    const done: string[] = [];
    const player = playTape([reply(1)], () => void done.push("past"));
    player.whenOver(() => void done.push("new"));
    assert.deepEqual(
      [player.knows("call", 1), player.knows("timer", 1), player.knows("call", 2)],
      [true, false, false],
    );
    player.ask("call", 1);
    player.whenOver(() => void done.push("newer"));
    assert.deepEqual(done, ["past", "new", "newer"]);
  });
});
