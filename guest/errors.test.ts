/** Which thrown values count as made by the engine. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ToolError, isEngineError, toToolError } from "./errors.ts";

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new TypeError("Nothing was thrown");
}

const overflow = (): unknown => [overflow()];

describe("isEngineError", () => {
  const made: readonly (readonly [string, () => unknown])[] = [
    ["TypeError", () => (null as unknown as { x: 1 }).x],
    ["SyntaxError of JSON", () => JSON.parse("{bad")],
    ["SyntaxError of a pattern", () => new RegExp("(".repeat(1))],
    ["RangeError", () => "x".repeat(-1)],
    ["RangeError of the stack", overflow],
    ["URIError", () => decodeURIComponent("%")],
  ];
  for (const [name, act] of made) {
    it(`is true for a ${name} that the engine made`, () => assert.equal(isEngineError(thrownBy(act)), true));
  }
  it("is true for the AggregateError of Promise.any", async () => {
    const error: unknown = await Promise.any([]).catch((reason: unknown) => reason);
    assert.equal(isEngineError(error), true);
  });
  it("is true in doubt: a program made an error of such a class", () => {
    assert.equal(isEngineError(new TypeError("mine")), true);
  });

  class OwnError extends TypeError {}
  const others: readonly (readonly [string, unknown])[] = [
    ["an Error, which engines do not make", new Error("x")],
    ["a subclass", new OwnError("x")],
    ["a ToolError", new ToolError("UPSTREAM_FAILED", "x")],
    ["a failed call", toToolError({ code: "UPSTREAM_FAILED", message: "x", retry: false }, 1, {})],
    ["an object with the prototype of an error", Object.create(TypeError.prototype)],
    ["a string", "TypeError"],
    ["null", null],
    ["undefined", undefined],
  ];
  for (const [name, value] of others) it(`is false for ${name}`, () => assert.equal(isEngineError(value), false));
  it("is false for a proxy and runs none of its traps", () => {
    const traps = { getPrototypeOf: () => assert.fail(), get: () => assert.fail() };
    assert.equal(isEngineError(new Proxy(new TypeError("x"), traps)), false);
  });
});
