/** Tests of the error table, and of what callers may read of an error. */

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
  it("the table of errors has upper-case codes and valid HTTP statuses", () => {
    const wrong = CODES.filter((code) => !/^[A-Z]+(_[A-Z]+)+$/.test(code) || !isStatus(ERRORS[code].http));
    assert.deepEqual(wrong, []);
  });
  it("the table of errors has a public text for every internal fault except REPLAY_DIVERGED", () => {
    assert.deepEqual(
      codesOf((code) => "text" in ERRORS[code] || code === "REPLAY_DIVERGED"),
      codesOf((code) => ERRORS[code].fault === "internal"),
    );
  });
  it("never suggests a retry for a wrong program or request", () => {
    const hopeless = codesOf((code) => ["program", "caller"].includes(ERRORS[code].fault) && ERRORS[code].retry);
    assert.deepEqual(hopeless, []);
  });
  it("gives LIMIT_, POLICY_ and UPSTREAM_ codes the matching fault", () => {
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
  it("accepts every error code of the table", () => assert.ok(CODES.every(isErrorCode)));
  for (const raw of ["", "limit_time", "LIMIT_TIME ", "__proto__", "constructor", "toString", 1, null, undefined, {}]) {
    it(`refuses ${JSON.stringify(raw) ?? "undefined"} as an error code`, () => assert.equal(isErrorCode(raw), false));
  }
});

describe("toPublicError", () => {
  it("shows the message, hint and position of a non-internal error and reports nothing", () => {
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
  it("omits error details that are absent", () => {
    assert.deepEqual(publish(new GloveboxError("LIMIT_BUSY", "Wait")).error, {
      code: "LIMIT_BUSY",
      message: "Wait",
      retry: true,
    });
  });
  it("shows the table's text for an internal error and reports the error itself", () => {
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
    it(`shows nothing of an unexpected ${Object.prototype.toString.call(thrown)}`, () => {
      assert.deepEqual(publish(thrown), {
        error: { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" },
        reported: [thrown],
      });
    });
  }
  it("never reads the stack or the cause of an error, even if they are getters", () => {
    const trap = new GloveboxError("LIMIT_TIME", "Too long");
    const spring = (): never => assert.fail(`${trap.code} was read`);
    Object.defineProperty(trap, "stack", { get: spring });
    Object.defineProperty(trap, "cause", { get: spring });
    assert.deepEqual(publish(trap).error, { code: "LIMIT_TIME", message: "Too long", retry: false });
  });
});

describe("describeError", () => {
  it("shows an operator the message and hint of an internal fault, never its cause", () => {
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
  it("keeps the cause of an error for the log", () => {
    const cause = new Error("below");
    assert.equal(new GloveboxError("INTERNAL_BUG", "above", { cause }).cause, cause);
  });
  it("GloveboxError has no cause property without a cause", () => {
    assert.equal("cause" in new GloveboxError("INTERNAL_BUG", "above", { hint: "x" }), false);
  });
});
