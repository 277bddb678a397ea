/** A program that waits without a place, with a child that is played: its time, its lies, and its next child. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import { gate } from "../fixtures/gate.ts";
import { codeOf, kindsOf, play, playChild } from "../fixtures/play-child.ts";
import { NOTHING_MEASURED } from "../measure.ts";
import type { ChildLease } from "../child-lease.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

const ASK = "files.write\n{}";
const READ = "files.read\n{}";

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

interface ParkState {
  isParked: boolean;
  leave: () => boolean;
  onPlaced: (() => void) | undefined;
  waiting: number;
}

interface ParkOptions {
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly lease?: Partial<ChildLease>;
}

/** A program that has a reply, and whose second call waits for a person; it has given its place back. */
async function park({ wallMs = 60_000, cpuMs = 0, lease = {} }: ParkOptions = {}) {
  const answer = gate();
  const state: ParkState = { isParked: false, leave: () => false, onPlaced: undefined, waiting: 0 };
  const played = play({ wallMs }, undefined, undefined, {
    host: {
      call: (address, args, seq) => {
        if (address === "files.read") return Promise.resolve({ ok: true, json: "1" });
        state.waiting = 1;
        return answer.host.call(address, args, seq);
      },
    },
    waits: { forPeople: () => state.waiting, suspend: () => false },
    lease: {
      park: (leave) => {
        Object.assign(state, { isParked: true, leave });
        return true;
      },
      wake: (onPlaced) => void (state.onPlaced = onPlaced),
      ...lease,
    },
  });
  const { say, sent } = played;
  say(TO_HOST.CALL, 1, READ);
  await until(() => sent.length === 2);
  say(TO_HOST.LOG, 0, "line");
  say(TO_HOST.CALL, 2, ASK);
  say(TO_HOST.USAGE, 0, `${cpuMs * 1_000} 0`);
  await until(() => sent.at(-1)?.kind === TO_GUEST.PING);
  say(TO_HOST.PONG);
  await until(() => state.isParked);
  sent.splice(0);
  const open = (): void => {
    state.waiting = 0;
    answer.open();
  };
  return { ...played, state, open };
}

/** Another child, with what it is sent. */
function createNext() {
  const { child, sent, say } = playChild();
  const released: boolean[] = [];
  const lease: ChildLease = {
    child,
    engine: "isolate",
    baseline: NOTHING_MEASURED,
    release: (reusable) => void released.push(reusable),
    park: () => false,
    wake: () => assert.fail(),
    vacate: () => assert.fail(),
    onTrialOver: () => undefined,
    retake: () => assert.fail(),
    freeChild: () => assert.fail(),
  };
  return { lease, sent, released, say };
}

/** A program that gave up its child and gets another one as soon as the person has answered. */
async function giveUp() {
  const next = createNext();
  const retake = (): Promise<ChildLease> => Promise.resolve(next.lease);
  const parked = await park({ lease: { vacate: () => true, retake } });
  assert.equal(parked.state.leave(), true);
  parked.open();
  await until(() => next.sent.length > 0);
  assert.deepEqual(kindsOf(next.sent), [TO_GUEST.START]);
  return { ...parked, next };
}

describe("the time of a program that waits", () => {
  it("the time in which a program waits for its place is not part of its time limit", async () => {
    const wallMs = 4_000;
    const { open, state, sent, say, outcome } = await park({ wallMs });
    open();
    await until(() => state.onPlaced !== undefined);
    await sleep(3_000);
    state.onPlaced?.();
    assert.deepEqual(kindsOf(sent), [TO_GUEST.LEFT, TO_GUEST.REPLY]);
    assert.ok(Number(sent[0]?.text) > 0 && Number(sent[0]?.text) < wallMs, sent[0]?.text);
    await sleep(1_500);
    say(TO_HOST.DONE, 0, "1");
    const { ending, usage } = await outcome;
    assert.deepEqual([codeOf(ending), usage.wallMs < wallMs, usage.queueMs > usage.wallMs], ["returned", true, true]);
  });
  it("a program that waits for its place for longer than its time limit ends with LIMIT_TIME", async () => {
    const { open, outcome, released } = await park({ wallMs: 3_000 });
    open();
    const { ending } = await outcome;
    assert.ok(ending.kind === "failed" && ending.error.code === "LIMIT_TIME");
    assert.match(ending.error.message, /waited for more than 3000 ms for a free place/);
    assert.deepEqual(released, [false]);
  });
});

describe("a child without a place", () => {
  for (const [name, kind, id, text] of [
    ["calls a tool", TO_HOST.CALL, 3, READ],
    ["starts a timer", TO_HOST.TIMER, 1, "0"],
    ["writes a line", TO_HOST.LOG, 0, "line"],
    ["returns", TO_HOST.DONE, 0, "1"],
    ["answers again", TO_HOST.PONG, 0, ""],
  ] as const)
    it(`a child that ${name} although it reported that its program waits counts as crashed`, async () => {
      const { say, outcome, released } = await park();
      say(kind, id, text);
      assert.equal(codeOf((await outcome).ending), "SANDBOX_CRASHED");
      assert.deepEqual(released, [false]);
    });
  it("a child may call and return once its program has its place again (positive control)", async () => {
    const { say, outcome, open, state } = await park();
    open();
    await until(() => state.onPlaced !== undefined);
    state.onPlaced?.();
    say(TO_HOST.CALL, 3, READ);
    say(TO_HOST.DONE, 0, "1");
    assert.equal(codeOf((await outcome).ending), "returned");
  });
});

describe("a program that gave up its child", () => {
  it("a program that gave up its child repeats its calls in another one without calling the host again", async () => {
    const { next, outcome, released } = await giveUp();
    next.say(TO_HOST.CALL, 1, READ);
    assert.deepEqual(
      next.sent.slice(1).map(({ kind, id }) => [kind, id]),
      [
        [TO_GUEST.REPLY, 1],
        [TO_GUEST.LEFT, 0],
        [TO_GUEST.REPLY, 2],
      ],
    );
    next.say(TO_HOST.LOG, 0, "line");
    next.say(TO_HOST.CALL, 2, ASK);
    next.say(TO_HOST.LOG, 0, "another line");
    next.say(TO_HOST.DONE, 0, "1");
    const { ending, logs } = await outcome;
    assert.equal(codeOf(ending), "returned");
    assert.deepEqual(
      logs.map(({ text }) => text),
      ["line", "another line"],
    );
    assert.deepEqual([released, next.released], [[], [true]]);
  });
  it("a program that gave up its child gets the tick of its timer once, in another child", async () => {
    const next = createNext();
    const retake = (): Promise<ChildLease> => Promise.resolve(next.lease);
    let isAway = false;
    const park: ChildLease["park"] = (leave) => {
      isAway = leave();
      return false;
    };
    const { say, sent, outcome } = play({}, undefined, undefined, { lease: { park, vacate: () => true, retake } });
    say(TO_HOST.TIMER, 1, "3000");
    say(TO_HOST.TIMER, 2, "500000");
    await until(() => sent.at(-1)?.kind === TO_GUEST.PING);
    say(TO_HOST.PONG);
    await until(() => isAway);
    await until(() => next.sent.length > 0);
    next.say(TO_HOST.TIMER, 1, "3000");
    next.say(TO_HOST.TIMER, 2, "500000");
    await until(() => next.sent.some(({ kind }) => kind === TO_GUEST.TICK));
    assert.deepEqual(
      next.sent.map(({ kind, id }) => [kind, id]),
      [
        [TO_GUEST.START, 0],
        [TO_GUEST.LEFT, 0],
        [TO_GUEST.TICK, 1],
      ],
    );
    next.say(TO_HOST.DONE, 0, "1");
    assert.equal(codeOf((await outcome).ending), "returned");
  });
  it("a program that makes another call than before in its next child ends with REPLAY_DIVERGED", async () => {
    const { next, outcome } = await giveUp();
    next.say(TO_HOST.CALL, 1, ASK);
    assert.equal(codeOf((await outcome).ending), "REPLAY_DIVERGED");
    assert.deepEqual(next.released, [false]);
  });
  it("a program that returns before it has repeated everything ends with REPLAY_DIVERGED", async () => {
    const { next, outcome } = await giveUp();
    next.say(TO_HOST.DONE, 0, "1");
    assert.equal(codeOf((await outcome).ending), "REPLAY_DIVERGED");
  });
  it("a program that ends before it gets another child releases that child", async () => {
    const next = createNext();
    const taken = Promise.withResolvers<ChildLease>();
    const signals: AbortSignal[] = [];
    const retake = (signal: AbortSignal): Promise<ChildLease> => (signals.push(signal), taken.promise);
    const { state, open, outcome } = await park({ wallMs: 3_000, lease: { vacate: () => true, retake } });
    state.leave();
    open();
    assert.equal(codeOf((await outcome).ending), "LIMIT_TIME");
    taken.resolve(next.lease);
    await taken.promise;
    assert.deepEqual([signals.map(({ aborted }) => aborted), next.released, next.sent], [[true], [false], []]);
  });
  for (const [cpuMs, gives] of [
    [499, true],
    [500, true],
    [501, false],
  ] as const)
    it(`a program that has computed for ${cpuMs} ms ${gives ? "gives up" : "keeps"} its child`, async () => {
      const { state, child, outcome } = await park({ cpuMs, lease: { vacate: () => true } });
      assert.equal(state.leave(), gives);
      child.listener.gone(new GloveboxError("SANDBOX_CRASHED", "The sandbox process ended"));
      await outcome;
    });
});
