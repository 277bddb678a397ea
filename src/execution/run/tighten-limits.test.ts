/** A request can only lower its limits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { tightenLimits } from "./tighten-limits.ts";

/** Limits as a client sends them, without a type. */
function parseWanted(raw: unknown): Partial<Limits> {
  return raw as Partial<Limits>;
}

describe("tightenLimits", () => {
  it("lowers a limit and never raises one", () => {
    const calls = [99, 100, 101].map((wanted) => tightenLimits(DEFAULT_LIMITS, { calls: wanted }).calls);
    assert.deepEqual(calls, [99, 100, 100]);
  });
  it("keeps limits that a request does not name or names as undefined", () => {
    assert.deepEqual(tightenLimits(DEFAULT_LIMITS, parseWanted({ calls: undefined })), DEFAULT_LIMITS);
    assert.deepEqual(tightenLimits(DEFAULT_LIMITS, { wallMs: 5, depth: 1 }), {
      ...DEFAULT_LIMITS,
      wallMs: 5,
      depth: 1,
    });
  });
  it("compares a request with the operator's limits, not with the defaults", () => {
    const own = { ...DEFAULT_LIMITS, calls: 7 };
    assert.equal(tightenLimits(own, { calls: 50 }).calls, 7);
  });
  it("returns a frozen object and does not change the operator's limits", () => {
    const own = { ...DEFAULT_LIMITS };
    assert.ok(Object.isFrozen(tightenLimits(own, { calls: 1 })));
    assert.deepEqual(own, DEFAULT_LIMITS);
  });
  for (const value of [0, -1, 1.5, Number.NaN, Infinity, 2 ** 53, "5", null, true, [5], {}]) {
    it(`refuses a limit with the value ${JSON.stringify(value)} (${typeof value})`, () => {
      const message = "The limit calls must be an integer of at least 1";
      assert.throws(
        () => tightenLimits(DEFAULT_LIMITS, parseWanted({ calls: value })),
        new GloveboxError("REQUEST_INVALID", message),
      );
    });
  }
  for (const value of [1, 50, Number.MAX_SAFE_INTEGER]) {
    it(`accepts a limit with the value ${value}`, () =>
      assert.ok(tightenLimits(DEFAULT_LIMITS, { calls: value }).calls <= 100));
  }
  for (const name of ["call", "CALLS", "timeout", "toString", "constructor", "__proto__", ""]) {
    it(`refuses a limit with the unknown name ${JSON.stringify(name)}`, () => {
      const wanted = parseWanted(JSON.parse(`{${JSON.stringify(name)}: 1}`));
      const message = `Unknown limit ${JSON.stringify(name)}`;
      assert.throws(() => tightenLimits(DEFAULT_LIMITS, wanted), new GloveboxError("REQUEST_INVALID", message));
    });
  }
  it("never loosens a limit, for any request", () => {
    const names = Object.keys(DEFAULT_LIMITS);
    const wanted = fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1 }), { noNullPrototype: true });
    fc.assert(
      fc.property(wanted, (raw) => {
        const before = new Map(Object.entries(DEFAULT_LIMITS));
        const asked = new Map(Object.entries(raw));
        for (const [name, value] of Object.entries(tightenLimits(DEFAULT_LIMITS, parseWanted(raw)))) {
          assert.equal(value, Math.min(before.get(name) ?? 0, asked.get(name) ?? Infinity), name);
        }
      }),
    );
  });
});
