/** A child may have been taken over: whatever it reports becomes a harmless value or an ending. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { parseOverrun, parseThrown, parseUsage, readValue, toDeath, toFatal } from "./parse-reports.ts";
import { OVERRUNS } from "../wire.ts";

const NOTHING = { kind: "thrown", name: "", message: "", stack: "" } as const;

const MOST_KEYS = 50_000;
const readAtOnce = (text: string): unknown => runAtOnce(readValue(text, DEFAULT_LIMITS));

describe("readValue", () => {
  it("readValue reads JSON, and no value from an empty text", () => {
    assert.deepEqual([readAtOnce('{"a":[1,null]}'), readAtOnce("")], [{ a: [1, null] }, undefined]);
  });
  it("readValue keeps __proto__ as an ordinary key", () => {
    const value = readAtOnce('{"__proto__":{"polluted":1}}');
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.deepEqual(Object.keys(value ?? {}), ["__proto__"]);
  });
  it("readValue refuses a value above the depth, and reads one at it, without running out of stack", () => {
    const nest = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    assert.ok(Array.isArray(readAtOnce(nest(DEFAULT_LIMITS.depth))));
    for (const levels of [DEFAULT_LIMITS.depth + 1, 500_000])
      assert.throws(() => readAtOnce(nest(levels)), { code: "LIMIT_SIZE", message: /nests deeper than/ });
  });
  it("readValue refuses an object with more keys than one may have, and reads one with as many", () => {
    const fields = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"key ${at}":1`).join(",")}}`;
    assert.equal(Object.keys(readAtOnce(fields(MOST_KEYS)) ?? {}).length, MOST_KEYS);
    assert.throws(() => readAtOnce(fields(MOST_KEYS + 1)), { code: "LIMIT_SIZE", message: /more than 50000 keys/ });
  });
  for (const text of [" ", "{", "undefined", "NaN", "{}{}", "[1,]", "'a'"]) {
    it(`reports SANDBOX_CRASHED for ${JSON.stringify(text)}`, () => {
      assert.throws(() => readAtOnce(text), {
        code: "SANDBOX_CRASHED",
        message: "The sandbox process sent a result that is not JSON",
      });
    });
  }
});

describe("parseThrown", () => {
  it("parseThrown reads the guest's description of an error", () => {
    const message = { kind: "unserializable", name: "TypeError", message: "m", stack: "s", seq: 3, code: "LIMIT_SIZE" };
    assert.deepEqual(parseThrown(JSON.stringify({ ...message, more: 1 })), message);
  });
  for (const text of ["null", "[]", "1", '"x"', "{}", '{"kind":"__proto__"}', '{"seq":"1","code":7}']) {
    it(`parseThrown returns empty fields for ${text}`, () => assert.deepEqual(parseThrown(text), NOTHING));
  }
  it("parseThrown ignores fields that are not strings", () => {
    const trap = { toString: 1, valueOf: 1 };
    assert.deepEqual(parseThrown(JSON.stringify({ name: trap, message: [[1]], stack: 7 })), NOTHING);
    assert.deepEqual(parseThrown(`{"message":${"[".repeat(100_000)}${"]".repeat(100_000)}}`), NOTHING);
  });
  it("parseThrown shortens long strings", () => {
    const { name, message, stack, code } = parseThrown(
      JSON.stringify({
        name: "n".repeat(8_192),
        message: "m".repeat(8_193),
        stack: "s".repeat(100_000),
        code: "c".repeat(9_000),
      }),
    );
    assert.deepEqual([name.length, message.length, stack.length, code?.length], [8_192, 8_192, 8_192, 8_192]);
  });
  it("parseThrown throws SANDBOX_CRASHED for invalid JSON", () => {
    assert.throws(() => parseThrown("{"), { code: "SANDBOX_CRASHED" });
  });
});

describe("parseOverrun", () => {
  const codes = {
    wall: "LIMIT_TIME",
    memory: "LIMIT_MEMORY",
    output: "LIMIT_SIZE",
    result: "LIMIT_SIZE",
    depth: "LIMIT_SIZE",
  } as const;
  for (const word of OVERRUNS) {
    it(`parseOverrun turns ${word} into the error of its limit`, () =>
      assert.equal(parseOverrun(word, DEFAULT_LIMITS).code, codes[word]));
  }
  for (const word of ["", "Wall", "constructor", "__proto__", "wall\n"]) {
    it(`reports SANDBOX_CRASHED for ${JSON.stringify(word)}`, () => {
      assert.deepEqual(
        parseOverrun(word, DEFAULT_LIMITS),
        new GloveboxError("SANDBOX_CRASHED", "An unknown limit was reported"),
      );
    });
  }
});

describe("parseUsage", () => {
  it("parseUsage reads processor time and heap", () =>
    assert.deepEqual(parseUsage("1500 4096"), { cpuMs: 1.5, heapBytes: 4_096 }));
  for (const text of ["", "x y", "-5 -6", "NaN NaN", "Infinity 1e999", "-Infinity"]) {
    it(`parseUsage reads ${JSON.stringify(text)} as zero`, () =>
      assert.deepEqual(parseUsage(text), { cpuMs: 0, heapBytes: 0 }));
  }
});

describe("toDeath", () => {
  const limits = { ...DEFAULT_LIMITS, memoryBytes: 1_000 };
  for (const words of [
    "FATAL ERROR: Reached heap limit",
    "JavaScript heap out of memory",
    "Allocation failed - x",
    "0 objs/span;",
  ]) {
    it(`toDeath reads ${JSON.stringify(words)} as the memory limit`, () => {
      assert.equal(toDeath(new GloveboxError("SANDBOX_CRASHED", words), limits, 0).code, "LIMIT_MEMORY");
    });
  }
  it("toDeath reads a death above three quarters of the memory as the limit, and none at or below", () => {
    const reason = new GloveboxError("SANDBOX_CRASHED", "The sandbox process ended (SIGTRAP)");
    const codes = [749, 750, 751].map((peakBytes) => toDeath(reason, limits, peakBytes).code);
    assert.deepEqual(codes, ["SANDBOX_CRASHED", "SANDBOX_CRASHED", "LIMIT_MEMORY"]);
  });
  it("toDeath leaves every other reason unchanged", () => {
    const reason = new GloveboxError("SANDBOX_CRASHED", "The sandbox process ended (SIGKILL)");
    assert.equal(toDeath(reason, limits, 0), reason);
  });
});

describe("toFatal", () => {
  it("toFatal keeps a GloveboxError", () => {
    const error = new GloveboxError("LIMIT_CALLS", "Too many");
    assert.equal(toFatal(error), error);
  });
  it("toFatal turns anything else into INTERNAL_BUG with its cause", () => {
    const cause = new Error("x");
    const fatal = toFatal(cause);
    assert.deepEqual([fatal.code, fatal.message, fatal.cause], ["INTERNAL_BUG", "The bridge failed", cause]);
  });
});
