/** What an upstream answers is measured and checked against its own schema. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Json, JsonSchema, Limits } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createTool } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseResult } from "./take-result.ts";

function parse(value: Json, limits: Partial<Limits> = {}, output: JsonSchema | null = null): string {
  return runAtOnce(parseResult(createTool("files.read", { output }), value, { ...DEFAULT_LIMITS, ...limits }));
}

const tooLarge = (bytes: number): GloveboxError =>
  new GloveboxError("LIMIT_SIZE", `The result of files.read has ${bytes} bytes; the limit is 10 (resultBytes)`, {
    hint: "Ask the tool for less: a filter, a page, fewer fields",
  });

describe("the size of a result", () => {
  it("the size of a result is accepted below and at the limit", () => {
    assert.deepEqual(
      [parse("1234567", { resultBytes: 10 }), parse("12345678", { resultBytes: 10 })],
      ['"1234567"', '"12345678"'],
    );
  });
  it("the size of a result is refused above the limit", () =>
    assert.throws(() => parse("123456789", { resultBytes: 10 }), tooLarge(11)));
  it("the size of a result is counted in bytes of UTF-8", () => {
    assert.equal(parse("€€", { resultBytes: 10 }), '"€€"');
    assert.throws(() => parse("€€€", { resultBytes: 10 }), tooLarge(11));
  });
});

describe("the depth of a result", () => {
  it("the depth of a result is accepted below and at the limit", () => {
    assert.deepEqual([parse([[1]], { depth: 3 }), parse([[[1]]], { depth: 3 })], ["[[1]]", "[[[1]]]"]);
  });
  it("the depth of a result is refused above the limit, and without running out of stack", () => {
    const error = new GloveboxError("LIMIT_SIZE", "The result of files.read nests deeper than 3 levels (depth)");
    assert.throws(() => parse([[[[1]]]], { depth: 3 }), error);
    assert.throws(() => parse(JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), { depth: 3 }), error);
  });
});

describe("an output schema", () => {
  const output: JsonSchema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
  it("refuses an answer that does not fit, and names the server as the one at fault", () => {
    const problem = "count: expected integer, got string";
    assert.throws(
      () => parse({ count: "7" }, {}, output),
      new GloveboxError(
        "UPSTREAM_RESULT_INVALID",
        `files.read returned a result that does not fit its own output schema: ${problem}`,
        {
          hint: "The server is at fault; report it to its operator",
        },
      ),
    );
  });
  it("accepts an answer that fits", () => assert.equal(parse({ count: 7 }, {}, output), '{"count":7}'));
  it("accepts anything if it is missing", () => assert.equal(parse({ count: "7" }), '{"count":"7"}'));
});

describe("the text of a result", () => {
  it("the text of a result is well-formed, whatever the server sent", () => {
    const json = parse({ "\ud800": "\udc00x" });
    assert.deepEqual(JSON.parse(json), { "\ufffd": "\ufffdx" });
    assert.deepEqual(JSON.parse(parse({ a: "\ud83d\ude00 \\ud800" })), { a: "\ud83d\ude00 \\ud800" });
  });
});

describe("a large result", () => {
  it("a large result is written in pieces, and a small one in one piece", () => {
    const count = (value: Json): number => {
      const work = parseResult(createTool("files.read", {}), value, DEFAULT_LIMITS);
      let pieces = 1;
      while (work.next().done !== true) pieces += 1;
      return pieces;
    };
    const rows = (length: number): Json => Array.from({ length }, (_, id) => ({ id, text: "x".repeat(100) }));
    assert.equal(count(rows(10)), 1);
    assert.ok(count(rows(10_000)) > 10);
    assert.ok(count(["x".repeat(1_000_000)]) > 10);
  });
});
