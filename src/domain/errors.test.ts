/** The table of errors, and what of an error the outside may read. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ERRORS, GloveboxError, describeError, isErrorCode, toPublicError } from "./errors.ts";
import type { ErrorCode, PublicError } from "./errors.ts";

const CODES = Object.keys(ERRORS).filter(isErrorCode);
const CANARY = "canary: /home/someone/key.pem";

function publish(thrown: unknown): { readonly error: PublicError; readonly reported: readonly unknown[] } {
  const reported: unknown[] = [];
  const error = toPublicError(thrown, (fault) => {
    reported.push(fault);
    return "in_1";
  });
  return { error, reported };
}

function codesOf(isWanted: (code: ErrorCode) => boolean): readonly ErrorCode[] {
  return CODES.filter(isWanted);
}

describe("the table of errors", () => {
  it("has codes of capital words and statuses of HTTP", () => {
    const wrong = CODES.filter((code) => !/^[A-Z]+(_[A-Z]+)+$/.test(code) || !isStatus(ERRORS[code].http));
    assert.deepEqual(wrong, []);
  });
  it("has a text for the outside where the fault is internal, but for a replay, which must say where", () => {
    assert.deepEqual(
      codesOf((code) => "text" in ERRORS[code] || code === "REPLAY_DIVERGED"),
      codesOf((code) => ERRORS[code].fault === "internal"),
    );
  });
  it("never asks for the retry of a program or of a request that is wrong", () => {
    const hopeless = codesOf((code) => ["program", "caller"].includes(ERRORS[code].fault) && ERRORS[code].retry);
    assert.deepEqual(hopeless, []);
  });
  it("gives the codes of a limit, of a policy and of an upstream the fault of their name", () => {
    const faults = { LIMIT: "limit", POLICY: "policy", UPSTREAM: "upstream", PROGRAM: "program", REQUEST: "caller" };
    for (const [prefix, fault] of Object.entries(faults)) {
      const wrong = codesOf((code) => code.startsWith(`${prefix}_`) && ERRORS[code].fault !== fault);
      assert.deepEqual(wrong, [], prefix);
    }
  });
});

function isStatus(http: number): boolean {
  return Number.isInteger(http) && http >= 200 && http <= 599;
}

describe("isErrorCode", () => {
  it("knows every code of the table", () => assert.ok(CODES.every(isErrorCode)));
  for (const raw of ["", "limit_time", "LIMIT_TIME ", "__proto__", "constructor", "toString", 1, null, undefined, {}]) {
    it(`does not know ${JSON.stringify(raw) ?? "undefined"}`, () => assert.equal(isErrorCode(raw), false));
  }
});

describe("toPublicError", () => {
  it("shows message, hint and place of an error that is not internal, and reports nothing", () => {
    const details = { hint: "Do this", line: 3, column: 5, frame: "> 3 | x", cause: new Error(CANARY) };
    assert.deepEqual(publish(new GloveboxError("PROGRAM_THREW", "It threw", details)), {
      error: {
        code: "PROGRAM_THREW",
        message: "It threw",
        retry: false,
        hint: "Do this",
        line: 3,
        column: 5,
        frame: "> 3 | x",
      },
      reported: [],
    });
  });
  it("leaves out what was not given", () => {
    assert.deepEqual(publish(new GloveboxError("LIMIT_BUSY", "Wait")).error, {
      code: "LIMIT_BUSY",
      message: "Wait",
      retry: true,
    });
  });
  it("shows the table's text instead of an internal message, hint, place or cause, and reports the error", () => {
    for (const code of codesOf((known) => "text" in ERRORS[known])) {
      const kind: { readonly text?: string; readonly retry: boolean } = ERRORS[code];
      const details = { hint: CANARY, frame: CANARY, line: 1, cause: new Error(CANARY) };
      const thrown = new GloveboxError(code, CANARY, details);
      assert.deepEqual(publish(thrown), {
        error: { code, message: kind.text, retry: kind.retry, incident: "in_1" },
        reported: [thrown],
      });
    }
  });
  for (const thrown of [new Error(CANARY), CANARY, undefined, null, { code: "LIMIT_TIME", message: CANARY }]) {
    it(`shows nothing of ${Object.prototype.toString.call(thrown)} that nobody foresaw`, () => {
      assert.deepEqual(publish(thrown), {
        error: { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" },
        reported: [thrown],
      });
    });
  }
  it("never reads the stack or the cause, not even of an error that lies in wait there", () => {
    const trap = new GloveboxError("LIMIT_TIME", "Too long");
    const spring = (): never => assert.fail(`${trap.code} was read`);
    Object.defineProperty(trap, "stack", { get: spring });
    Object.defineProperty(trap, "cause", { get: spring });
    assert.deepEqual(publish(trap).error, { code: "LIMIT_TIME", message: "Too long", retry: false });
  });
});

describe("describeError", () => {
  it("shows an operator the message and the hint of an internal fault, never its cause", () => {
    const cause = new Error(CANARY);
    const error = new GloveboxError("STORE_UNAVAILABLE", "The disk is full", { cause, hint: "Make room" });
    assert.deepEqual(describeError(error), {
      code: "STORE_UNAVAILABLE",
      message: "The disk is full",
      retry: true,
      hint: "Make room",
    });
  });
});

describe("GloveboxError", () => {
  it("keeps its cause for the log", () => {
    const cause = new Error("below");
    assert.equal(new GloveboxError("INTERNAL_BUG", "above", { cause }).cause, cause);
  });
  it("has no cause of its own when none was given", () => {
    assert.equal("cause" in new GloveboxError("INTERNAL_BUG", "above", { hint: "x" }), false);
  });
});
