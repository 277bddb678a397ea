/** When calls fail at once, and when one may try again. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError, parseConnectorId } from "../domain/index.ts";
import type { ErrorCode } from "../domain/index.ts";

import { Breaker } from "./breaker.ts";

const ID = parseConnectorId("up");
assert.ok(ID);
const id = ID;

/** A breaker whose clock the test sets. */
class Bench {
  time = 0;
  readonly breaker = new Breaker({ id, now: () => this.time });

  /** One call that takes `ms` and fails with this code, or succeeds. */
  call(code?: ErrorCode, ms = 2000): void {
    const passage = this.breaker.enter();
    this.time += ms;
    if (code) passage.failed(new GloveboxError(code, "x"));
    else passage.answered();
  }

  isOpen(): boolean {
    try {
      // A code that does not count against the server changes nothing.
      this.breaker.enter().failed(new GloveboxError("REQUEST_CANCELLED", "x"));
      return false;
    } catch {
      return true;
    }
  }
}

test("the breaker stays closed after four failures in a row and opens for 5 s after the fifth", () => {
  const bench = new Bench();
  for (let count = 0; count < 4; count += 1) bench.call("UPSTREAM_TIMEOUT");
  assert.equal(bench.isOpen(), false);
  bench.call("UPSTREAM_UNREACHABLE", 0);
  bench.time += 4999;
  assert.throws(() => bench.breaker.enter(), {
    code: "UPSTREAM_UNREACHABLE",
    message: "up: the last 5 calls got no answer; the next try is in 0.1 s",
  });
  bench.time += 1;
  assert.equal(bench.isOpen(), false);
});

test("an answered call resets the breaker's count of failures", () => {
  const bench = new Bench();
  for (let count = 0; count < 20; count += 1) bench.call(count % 5 === 4 ? undefined : "UPSTREAM_TIMEOUT");
  assert.equal(bench.isOpen(), false);
});

test("a caller that waits less than 2 s or cancels cannot open the breaker for others", () => {
  const bench = new Bench();
  for (let count = 0; count < 50; count += 1) bench.call("UPSTREAM_TIMEOUT", 1999);
  for (let count = 0; count < 50; count += 1) bench.call("REQUEST_CANCELLED");
  assert.equal(bench.isOpen(), false);
  for (let count = 0; count < 5; count += 1) bench.call("UPSTREAM_TIMEOUT", 2000);
  assert.equal(bench.isOpen(), true);
});

test("after the pause one call probes: its failure doubles the pause up to a minute, its answer closes the breaker", () => {
  const bench = new Bench();
  for (let count = 0; count < 5; count += 1) bench.call("UPSTREAM_TIMEOUT");
  const pauses: number[] = [];
  for (let count = 0; count < 6; count += 1) {
    const startedAt = bench.time;
    while (bench.isOpen()) bench.time += 100;
    pauses.push(bench.time - startedAt);
    const probe = bench.breaker.enter();
    assert.equal(bench.isOpen(), true);
    probe.failed(new GloveboxError("UPSTREAM_UNREACHABLE", "x"));
  }
  assert.deepEqual(pauses, [5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  bench.time += 60_000;
  bench.call();
  assert.equal(bench.isOpen(), false);
});

test("calls that were in progress when the breaker opened do not extend the pause", () => {
  const bench = new Bench();
  const passages = Array.from({ length: 16 }, () => bench.breaker.enter());
  bench.time += 2000;
  for (const passage of passages) passage.failed(new GloveboxError("UPSTREAM_TIMEOUT", "x"));
  bench.time += 5000;
  assert.equal(bench.isOpen(), false);
});

test("a restart closes the breaker", () => {
  const bench = new Bench();
  for (let count = 0; count < 5; count += 1) bench.call("UPSTREAM_TIMEOUT");
  assert.equal(bench.isOpen(), true);
  bench.breaker.reset();
  assert.equal(bench.isOpen(), false);
});
