/** When a program gives its place back, and what it does to continue. The clock is set by the test. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { MOST_IDLE_CPU_MS, PlaceKeeper, WAITED_MS } from "./place-keeper.ts";

function open({ hasRoom = true } = {}) {
  const clock = { at: 0 };
  const events: string[] = [];
  const state = { onlyWaits: true, hasRoom, cpuMs: 0, suspend: () => false, onPlaced: () => undefined as void };
  const keeper = new PlaceKeeper({
    now: () => clock.at,
    onlyWaits: () => state.onlyWaits,
    ping: () => void events.push("ping"),
    suspend: () => (events.push("suspend"), true),
    cpuMs: () => state.cpuMs,
    lied: () => void events.push("lied"),
    park: (suspend) => {
      events.push(state.hasRoom ? "park" : "full");
      state.suspend = suspend;
      return state.hasRoom;
    },
    wake: (onPlaced) => {
      events.push("wake");
      state.onPlaced = onPlaced;
    },
  });
  const lookAt = (ms: number): void => {
    clock.at = ms;
    keeper.look();
  };
  return { keeper, events, state, clock, lookAt };
}

/** A program that has given its place back at 200 ms. */
function openParked(cpuMs = 0) {
  const opened = open();
  opened.state.cpuMs = cpuMs;
  opened.lookAt(WAITED_MS);
  opened.keeper.takePong();
  assert.deepEqual(opened.events.splice(0), ["ping", "park"]);
  return opened;
}

describe("a program that waits", () => {
  it("a program that has waited for 200 ms gives its place back after it answered a ping, and not before", () => {
    const { keeper, events, lookAt } = open();
    lookAt(WAITED_MS - 1);
    assert.deepEqual(events, []);
    lookAt(WAITED_MS);
    assert.deepEqual(events, ["ping"]);
    lookAt(WAITED_MS + 1);
    assert.deepEqual([events, keeper.isPinged], [["ping"], true]);
    assert.equal(keeper.takePong(), true);
    assert.deepEqual([events, keeper.isPinged], [["ping", "park"], false]);
  });
  it("a program that computes keeps its place, although it has an open timer", () => {
    const { keeper, events, lookAt } = open();
    lookAt(WAITED_MS);
    lookAt(60_000);
    assert.deepEqual(events, ["ping"]);
    assert.equal(keeper.takePong(), true);
    lookAt(60_000 + WAITED_MS - 1);
    assert.deepEqual(events, ["ping"]);
    lookAt(60_000 + WAITED_MS);
    assert.deepEqual(events, ["ping", "park"]);
  });
  it("a program that waits for a tool keeps its place, and counts from its end", () => {
    const { events, lookAt, state } = open();
    state.onlyWaits = false;
    lookAt(60_000);
    state.onlyWaits = true;
    lookAt(60_000 + WAITED_MS - 1);
    assert.deepEqual(events, []);
    lookAt(60_000 + WAITED_MS);
    assert.deepEqual(events, ["ping"]);
  });
  it("a program that gets a delivery after a ping keeps its place when it answers", () => {
    const { keeper, events, lookAt } = open();
    lookAt(WAITED_MS);
    keeper.deliver(() => void events.push("delivery"));
    assert.equal(keeper.takePong(), true);
    lookAt(WAITED_MS * 2 - 1);
    assert.deepEqual(events, ["ping", "delivery"]);
    lookAt(WAITED_MS * 2);
    assert.deepEqual(events, ["ping", "delivery", "ping"]);
  });
  it("a program keeps its place while too many wait, and tries again without another ping", () => {
    const { keeper, events, lookAt, state } = open({ hasRoom: false });
    lookAt(WAITED_MS);
    keeper.takePong();
    lookAt(WAITED_MS + 20);
    state.hasRoom = true;
    lookAt(WAITED_MS + 40);
    lookAt(WAITED_MS + 60);
    assert.deepEqual(events, ["ping", "full", "full", "park"]);
  });
  it("a PONG that was not asked for is not taken", () => {
    assert.equal(open().keeper.takePong(), false);
    assert.equal(openParked().keeper.takePong(), false);
  });
});

describe("a program without a place", () => {
  it("a program gets its deliveries in order once it has its place again, and asks for it once", () => {
    const { keeper, events, state } = openParked();
    for (const name of ["first", "second"]) keeper.deliver(() => void events.push(name));
    assert.deepEqual(events, ["wake"]);
    state.onPlaced();
    keeper.deliver(() => void events.push("third"));
    assert.deepEqual(events, ["wake", "first", "second", "third"]);
  });
  it("a program that has its place again gives it back after another 200 ms", () => {
    const { keeper, events, state, clock, lookAt } = openParked();
    keeper.deliver(() => undefined);
    clock.at = 1_000;
    state.onPlaced();
    lookAt(1_000 + WAITED_MS - 1);
    assert.deepEqual(events, ["wake"]);
    lookAt(1_000 + WAITED_MS);
    assert.deepEqual(events, ["wake", "ping"]);
  });
  it("a program without a place can be suspended until it asks for its place", () => {
    const waits = openParked();
    assert.deepEqual([waits.state.suspend(), waits.events], [true, ["suspend"]]);
    const wakes = openParked();
    wakes.keeper.deliver(() => undefined);
    assert.deepEqual([wakes.state.suspend(), wakes.events], [false, ["wake"]]);
  });
  for (const [usedMs, events] of [
    [MOST_IDLE_CPU_MS - 1, []],
    [MOST_IDLE_CPU_MS, []],
    [MOST_IDLE_CPU_MS + 1, ["lied"]],
  ] as const)
    it(`a program that uses ${usedMs} ms of processor time without a place ${events.length > 0 ? "lied" : "waits"}`, () => {
      const { state, lookAt, events: seen } = openParked(1_000);
      state.cpuMs = 1_000 + usedMs;
      lookAt(60_000);
      assert.deepEqual(seen, events);
    });
});
