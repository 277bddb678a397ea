/** How often a server that keeps announcing changes is listed, with a clock that the test moves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { paceChanges } from "./pace-changes.ts";

/** `flood` announces a change every 10 ms and returns how many of them were passed on. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  let count = 0;
  const { announce, stop } = paceChanges({ now: Date.now, onChange: () => (count += 1) });
  const wait = (ms: number): void => t.mock.timers.tick(ms);
  const countSince = (act: () => void): number => {
    const before = count;
    act();
    return count - before;
  };
  const flood = (ms: number): number =>
    countSince(() => {
      for (let left = ms; left > 0; left -= 10) {
        announce(false);
        wait(10);
      }
    });
  return { announce, stop, wait, flood, countSince };
}

test("a server that announces all the time is listed after pauses that double up to 30 seconds", (t) => {
  const { flood } = start(t);
  // At 0, 100, 300, 700, 1,500, 3,100, 6,300, 12,700 and 25,500 ms, then at 51,100 ms and every 30 seconds.
  assert.equal(flood(90), 1);
  assert.equal(flood(25_510), 8);
  assert.equal(flood(25_600), 1);
  assert.equal(flood(300_000), 10);
});

test("a server that announces rarely is always listed at once", (t) => {
  const { announce, countSince, wait } = start(t);
  for (let time = 0; time < 20; time += 1) {
    assert.equal(
      countSince(() => announce(false)),
      1,
    );
    wait(5_000);
  }
});

for (const [quietMs, passedOn] of [
  [399, 0],
  [400, 1],
  [401, 1],
] as const) {
  test(`after a pause of 400 ms and ${quietMs} ms of silence a change is ${passedOn ? "" : "not "}passed on at once`, (t) => {
    const { flood, wait, announce, countSince } = start(t);
    // Passed on at 0, 100 and 300 ms; the last announcement is at 290 ms.
    assert.equal(flood(300), 3);
    wait(quietMs - 10);
    assert.equal(
      countSince(() => announce(false)),
      passedOn,
    );
  });
}

test("a change is not passed on while the tools will be listed anyway", (t) => {
  const { announce, countSince } = start(t);
  assert.equal(
    countSince(() => announce(true)),
    0,
  );
});

test("a change that is announced during a pause is passed on at its end, once", (t) => {
  const { announce, countSince, wait } = start(t);
  announce(false);
  assert.equal(
    countSince(() => {
      announce(false);
      announce(false);
      wait(99);
    }),
    0,
  );
  assert.equal(
    countSince(() => wait(1)),
    1,
  );
  assert.equal(
    countSince(() => wait(60_000)),
    0,
  );
});

test("no change is passed on after the end", (t) => {
  const { announce, stop, countSince, wait } = start(t);
  announce(false);
  announce(false);
  stop();
  assert.equal(
    countSince(() => wait(60_000)),
    0,
  );
});
