/** Wrong arguments are answered in words that let a model correct itself. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import {
  parseDescribeArguments,
  parseExecuteArguments,
  parseLibraryRequest,
  parseResumeArguments,
  parseSearchArguments,
} from "./parse-request.ts";

function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof GloveboxError);
    assert.equal(error.code, "REQUEST_INVALID");
    return `${error.message} | ${error.details.hint}`;
  }
  return assert.fail("It was accepted");
}

test("execute takes code alone", () => {
  assert.deepEqual(parseExecuteArguments({ code: "1" }), { source: "1" });
});

test("execute takes both languages, any JSON as input, and limits", () => {
  const limits = { wallMs: 1, calls: 2 };
  assert.deepEqual(parseExecuteArguments({ code: "1", language: "typescript", input: null, limits }), {
    source: "1",
    input: null,
    limits,
  });
  assert.deepEqual(parseExecuteArguments({ code: "1", language: "javascript", input: [1] }), {
    source: "1",
    input: [1],
  });
});

test("execute without code names the missing field", () => {
  assert.equal(
    refusal(() => parseExecuteArguments(undefined)),
    "Wrong arguments for execute: code: expected string, received undefined | execute takes code, language, input, limits, dryRun, idempotencyKey, detail",
  );
});

test("execute and resume take detail full and nothing else, and not with a handle", () => {
  assert.deepEqual(parseExecuteArguments({ code: "1", detail: "full" }), { source: "1", detail: "full" });
  assert.deepEqual(parseResumeArguments({ execution: "ex_1", detail: "full" }), { execution: "ex_1", detail: "full" });
  assert.deepEqual(parseResumeArguments({ execution: "ex_1" }), { execution: "ex_1" });
  assert.deepEqual(parseResumeArguments({ handle: "rs_1" }), { handle: "rs_1", query: {} });
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", detail: "some" })),
    /detail: expected "full"/,
  );
  assert.match(
    refusal(() => parseResumeArguments({ handle: "rs_1", detail: "full" })),
    /pass either an execution or a handle/,
  );
});

test("execute refuses an unknown argument by name", () => {
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", dryrun: true })),
    /Unrecognized key: "dryrun"/,
  );
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", dryRun: "yes" })),
    /dryRun: expected boolean/,
  );
  assert.deepEqual(parseExecuteArguments({ code: "1", dryRun: true }), { source: "1", dryRun: true });
});

test("execute refuses another language", () => {
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", language: "python" })),
    /language: .*"typescript"\|"javascript"/,
  );
});

test("execute refuses an unknown limit and one below 1", () => {
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", limits: { wall: 1 } })),
    /limits/,
  );
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", limits: { wallMs: 0 } })),
    /limits\.wallMs/,
  );
  assert.match(
    refusal(() => parseExecuteArguments({ code: "1", limits: { wallMs: 1.5 } })),
    /limits\.wallMs/,
  );
  assert.deepEqual(parseExecuteArguments({ code: "1", limits: { wallMs: 1 } }).limits, { wallMs: 1 });
});

test("execute takes input of 512 levels and refuses a deeper one", () => {
  const nest = (depth: number): Json => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  for (const depth of [511, 512]) assert.ok(parseExecuteArguments({ code: "1", input: nest(depth) }).input);
  for (const depth of [513, 3_000, 100_000]) {
    assert.match(
      refusal(() => parseExecuteArguments({ code: "1", input: nest(depth) })),
      /`input` nests deeper than 512 levels \| Send a flatter value$/,
    );
  }
  assert.match(
    refusal(() => parseLibraryRequest({ code: "1", input: nest(513) })),
    /`input` nests deeper than 512 levels/,
  );
  assert.ok(parseLibraryRequest({ code: "1", input: nest(512) }).input);
});

test("search takes no arguments, or a page of 1 to 50", () => {
  assert.deepEqual(parseSearchArguments(undefined), {});
  assert.deepEqual(parseSearchArguments({ limit: 1 }), { limit: 1 });
  assert.deepEqual(parseSearchArguments({ query: "q", limit: 50 }), { query: "q", limit: 50 });
  assert.match(
    refusal(() => parseSearchArguments({ limit: 0 })),
    /limit/,
  );
  assert.match(
    refusal(() => parseSearchArguments({ limit: 51 })),
    /limit/,
  );
});

test("describe takes 1 to 50 names and shows types by default", () => {
  const names = Array.from({ length: 50 }, (_, index) => `a.b${index}`);
  assert.deepEqual(parseDescribeArguments({ names }), { names, detail: "types" });
  assert.deepEqual(parseDescribeArguments({ names: ["a"], detail: "full" }), { names: ["a"], detail: "full" });
  assert.match(
    refusal(() => parseDescribeArguments({ names: [] })),
    /names/,
  );
  assert.match(
    refusal(() => parseDescribeArguments({ names: [...names, "a.c"] })),
    /names/,
  );
  assert.match(
    refusal(() => parseDescribeArguments({ names: ["a"], detail: "all" })),
    /detail/,
  );
});
