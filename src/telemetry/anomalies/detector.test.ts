/** Bursts are detected and steady work is not. Events carry their time. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import type { CallTelemetry, ExecutionTelemetry } from "../event.ts";
import { createDetector } from "./detector.ts";
import type { Anomaly, Detector } from "./detector.ts";
import { FIRST_CEILINGS, FLOORS, LEARN_MINUTES, WINDOW_MS, parseProfilesText, toProfilesText } from "./profile.ts";

const HOUR_MS = 3_600_000;
const STATS = { queueMs: 0, wallMs: 5, cpuMs: 1, peakMemoryBytes: 1, calls: 1, outputBytes: 1_000 };

function call(endedAt: number, more: Partial<CallTelemetry> = {}): CallTelemetry {
  const tool = { address: "crm.read", server: "crm", effect: "read", decision: "allow", isFlow: false } as const;
  const who = { principal: "ann", execution: "ex", seq: 1 };
  return { kind: "call", ...who, tool, outcome: "ok", code: undefined, ms: 1, endedAt, ...more };
}

function ended(endedAt: number, more: Partial<ExecutionTelemetry> = {}): ExecutionTelemetry {
  const who = { principal: "ann", execution: "ex" };
  return {
    kind: "execution",
    ...who,
    startedAt: endedAt,
    endedAt,
    state: "completed",
    code: undefined,
    stats: STATS,
    ...more,
  };
}

/** Returns one call for each of `count` minutes. */
function learnQuietly(detector: Detector, minutes: number): number {
  for (let minute = 1; minute <= minutes; minute += 1) {
    assert.deepEqual(detector.observe(call(minute * WINDOW_MS)), []);
  }
  return (minutes + 1) * WINDOW_MS;
}

function observeTimes(detector: Detector, times: number, seen: CallTelemetry): readonly Anomaly[] {
  return Array.from({ length: times }, () => detector.observe(seen)).flat();
}

/** Returns pseudorandom numbers from 0 to 1 for a seed. */
function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Executions with up to twelve calls, 5 % failures, pauses, and nights without requests. */
function workHonestly(random: () => number): readonly Anomaly[] {
  const detector = createDetector();
  let now = 0;
  return Array.from({ length: 1_000 }, (_, index) => {
    now += index % 250 === 249 ? 12 * HOUR_MS : 1_000 + random() * 19_000;
    const isVain = random() < 0.05;
    const made = observeTimes(detector, Math.floor(random() * 13), call(now, { outcome: isVain ? "error" : "ok" }));
    const stats = { ...STATS, outputBytes: Math.floor(random() * 200_000) };
    return [...made, ...detector.observe(ended(now, { state: isVain ? "failed" : "completed", stats }))];
  }).flat();
}

describe("a burst", () => {
  test("of requests is reported above the limit, not below or at it, and once per hour", () => {
    const detector = createDetector();
    const now = learnQuietly(detector, LEARN_MINUTES + 1);
    assert.deepEqual(observeTimes(detector, FLOORS.requests - 1, call(now)), []);
    assert.deepEqual(detector.observe(call(now)), []);
    const burst = { kind: "burst", principal: "ann", measure: "requests", usual: 1 };
    const limit = FLOORS.requests;
    assert.deepEqual(detector.observe(call(now)), [{ ...burst, measured: limit + 1, limit }]);
    assert.deepEqual(observeTimes(detector, 500, call(now)), []);
    assert.deepEqual(observeTimes(detector, 500, call(now + HOUR_MS - WINDOW_MS)), []);
    assert.equal(observeTimes(detector, 500, call(now + HOUR_MS)).length, 1);
  });

  test("of requests is not reported for a new principal", () => {
    const detector = createDetector();
    assert.deepEqual(observeTimes(detector, 5_000, call(learnQuietly(detector, LEARN_MINUTES - 1))), []);
  });

  test("of failures is reported for a new principal, one above the ceiling", () => {
    const detector = createDetector();
    const failed = call(WINDOW_MS, { outcome: "error", code: "UPSTREAM_FAILED" });
    assert.deepEqual(observeTimes(detector, FIRST_CEILINGS.failures, failed), []);
    const limit = FIRST_CEILINGS.failures;
    const burst = { kind: "burst", principal: "ann", measure: "failures", usual: 0 };
    assert.deepEqual(detector.observe(failed), [{ ...burst, measured: limit + 1, limit }]);
  });

  test("of output is compared with the baseline of the same principal", () => {
    const detector = createDetector();
    const large = { ...STATS, outputBytes: 5 * 1024 * 1024 };
    for (let minute = 1; minute <= 12; minute += 1) {
      assert.deepEqual(detector.observe(ended(minute * WINDOW_MS)), []);
      assert.deepEqual(detector.observe(ended(minute * WINDOW_MS, { principal: "bob", stats: large })), []);
    }
    const now = 13 * WINDOW_MS;
    assert.deepEqual(detector.observe(ended(now, { principal: "bob", stats: large })), []);
    const [found, ...others] = detector.observe(ended(now, { stats: large }));
    assert.deepEqual(found?.kind === "burst" && [found.principal, found.measure, found.usual], [
      "ann",
      "outputBytes",
      1_000,
    ]);
    assert.deepEqual(others, []);
  });

  test("a burst does not become usual at once", () => {
    const detector = createDetector();
    const now = learnQuietly(detector, LEARN_MINUTES + 1);
    const told = [0, 1, 2].map((hours) => observeTimes(detector, 1_000, call(now + hours * HOUR_MS)).length);
    assert.deepEqual(told, [1, 1, 1]);
  });
});

describe("steady work", () => {
  test("of a thousand random executions is never reported", () => {
    for (let seed = 1; seed <= 100; seed += 1) assert.deepEqual(workHonestly(createDice(seed)), [], `seed ${seed}`);
  });

  test("at a constantly high rate is never reported", () => {
    const detector = createDetector();
    const found = Array.from({ length: 60 }, (_, minute) => observeTimes(detector, 400, call(minute * WINDOW_MS)));
    assert.deepEqual(found.flat(), []);
  });
});

describe("a destructive tool", () => {
  const destroy = { address: "crm.drop", server: "crm", effect: "destroy", decision: "allow", isFlow: false } as const;

  test("a destructive tool is reported at the first use by each principal and not at the second", () => {
    const detector = createDetector();
    const use = (principal: string): readonly Anomaly[] => detector.observe(call(1, { principal, tool: destroy }));
    const first = (principal: string): Anomaly => ({ kind: "firstUse", principal, tool: "crm.drop" });
    assert.deepEqual([use("ann"), use("ann"), use("bob"), use("bob")], [[first("ann")], [], [first("bob")], []]);
  });

  test("a destructive tool is not reported if the call was refused", () => {
    const detector = createDetector();
    const refused = [{ outcome: "denied" }, { outcome: "pending" }, { outcome: "error", code: "LIMIT_QUOTA" }];
    for (const more of refused) assert.deepEqual(detector.observe(call(1, { ...more, tool: destroy })), []);
    assert.equal(detector.observe(call(1, { outcome: "unknown", tool: destroy })).length, 1);
  });
});

describe("the profiles", () => {
  test("the profiles are bounded: the principal that was idle longest is forgotten", () => {
    const detector = createDetector();
    for (let number = 0; number < 201; number += 1) detector.observe(call(1, { principal: `p${number}` }));
    const profiles = new Map(detector.profiles());
    assert.deepEqual([profiles.size, profiles.has("p0"), profiles.has("p1")], [200, false, true]);
  });

  test("the profiles are stored as text, and damaged text gives empty profiles", () => {
    const detector = createDetector();
    const now = learnQuietly(detector, LEARN_MINUTES + 1);
    observeTimes(detector, 200, call(now));
    const text = toProfilesText(detector.profiles());
    assert.deepEqual(new Map(parseProfilesText(text)), new Map(detector.profiles()));
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (damaged) => {
        assert.ok(createDetector(parseProfilesText(damaged)).observe(call(1)).length === 0);
      }),
    );
  });
});
