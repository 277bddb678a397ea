/** The text that a model reads about an execution. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseApprovalId, parseResultId, parseToolAddress } from "../../domain/index.ts";
import { EXECUTION, createResult } from "./fixtures/memory-gateway.ts";
import { MAX_TEXT_BYTES, renderExecution, shorten } from "./render.ts";
import { renderSearch } from "../render-search.ts";

test("a value is rendered as compact JSON, a string unchanged, and no value as (no value)", () => {
  assert.equal(renderExecution(createResult({ value: { a: [1, null] } })), '{"a":[1,null]}');
  assert.equal(renderExecution(createResult({ value: "plain" })), "plain");
  assert.equal(renderExecution(createResult()), "(no value)");
});

test("value, logs, findings and error are rendered in this order with all details", () => {
  const result = createResult({
    state: "failed",
    logs: [
      { level: "log", text: "one", atMs: 1 },
      { level: "warn", text: "two", atMs: 2 },
    ],
    findings: [{ rule: "no-infinite-loop", severity: "warn", message: "never ends", line: 1, column: 2 }],
    error: {
      code: "PROGRAM_THREW",
      message: "it threw",
      retry: true,
      line: 3,
      column: 5,
      frame: "> 3 | throw x",
      hint: "Catch it",
      incident: "in_1",
    },
  });
  assert.equal(
    renderExecution(result),
    [
      "Logs:",
      "one",
      "[warn] two",
      "",
      "Findings:",
      "warn no-infinite-loop (line 1:2): never ends",
      "",
      "Error PROGRAM_THREW (line 3:5): it threw",
      "> 3 | throw x",
      "Hint: Catch it",
      "Trying again may help.",
      "Incident: in_1",
    ].join("\n"),
  );
});

test("a dry run lists each skipped call on one line and leaves room for the error", () => {
  const tool = parseToolAddress("a.b");
  assert.ok(tool);
  const spared = { seq: 1, tool, effect: "write", decision: "allow" } as const;
  const writes = [
    { ...spared, args: { a: "x\ny" } },
    { ...spared, seq: 2, decision: "ask" as const },
  ];
  assert.equal(
    renderExecution(createResult({ value: 1, dryRun: { writes } })),
    '1\n\nDry run, these calls were not made:\na.b({"a":"x\\ny"})\na.b(…) (needs approval)',
  );
  assert.equal(
    renderExecution(createResult({ value: 1, dryRun: { writes: [] } })),
    "1\n\nDry run: no call was skipped.",
  );
  const many = Array.from({ length: 1_000 }, () => ({ ...spared, args: { a: "x".repeat(400) } }));
  const error = { code: "PROGRAM_THREW", message: "it threw", retry: false } as const;
  const text = renderExecution(createResult({ state: "failed", error, dryRun: { writes: many } }));
  assert.match(text, /\n\nError PROGRAM_THREW: it threw$/);
});

test("a cancelled execution without an error is named by its state", () => {
  assert.match(renderExecution(createResult({ state: "cancelled" })), /^The execution ex_0+ is cancelled\.$/);
});

test("a large result is a sample, with the way to read the rest", () => {
  const handle = parseResultId(`rs_${"0".repeat(24)}`);
  assert.ok(handle);
  const text = renderExecution(
    createResult({ value: [1], truncated: { handle, bytes: 9, shape: "Array<number> (4)" } }),
  );
  assert.equal(
    text,
    [
      "[1]",
      "",
      `The result has 9 bytes; above is a sample, the whole is kept as ${handle}: Array<number> (4)`,
      `Read it in a program: await glovebox.results.read("${handle}", { path, offset, limit, grep }), or with resume({ handle: "${handle}", … })`,
    ].join("\n"),
  );
});

test("a running execution is rendered with the call that waits for it", () => {
  assert.match(
    renderExecution({ ...createResult(), state: "running" }),
    /is running; wait for it with resume\(\{ execution: "ex_0{24}" \}\)\.$/,
  );
});

test("a paused execution lists its waiting approvals", () => {
  const [approval, tool] = [parseApprovalId(`ap_${"0".repeat(24)}`), parseToolAddress("shop.pay")];
  assert.ok(approval && tool);
  const questions = [{ approval, seq: 2, tool, reason: "money leaves", expiresAt: 9 }];
  assert.equal(
    renderExecution(createResult({ state: "paused", approvals: [approval], questions })),
    [
      `The execution ${EXECUTION} waits for approval:`,
      `${approval} shop.pay (call 2): money leaves`,
      `It resumes after a person has decided; then resume({ execution: "${EXECUTION}" }) returns its result.`,
    ].join("\n"),
  );
});

test("a paused execution tells the model what the user can run and open", () => {
  const [approval, tool] = [parseApprovalId(`ap_${"0".repeat(24)}`), parseToolAddress("shop.pay")];
  assert.ok(approval && tool);
  const commands = { show: "glovebox show", approve: "glovebox approve", reject: "glovebox reject" };
  const question = { approval, seq: 2, tool, reason: "money leaves", expiresAt: 9, commands, link: "http://here/" };
  const text = renderExecution(createResult({ state: "paused", approvals: [approval], questions: [question] }));
  assert.deepEqual(text.split("\n").slice(2, -1), [
    "  glovebox show",
    "  glovebox approve",
    "  glovebox reject",
    "  http://here/",
    "Tell the user which call waits and how to decide: show it, then approve or reject it. Do not decide for them.",
  ]);
});

test("a text at the size limit is whole, one byte more is shortened to the limit with a note", () => {
  const atCap = "x".repeat(MAX_TEXT_BYTES);
  assert.equal(renderExecution(createResult({ value: atCap.slice(1) })), atCap.slice(1));
  assert.equal(renderExecution(createResult({ value: atCap })), atCap);
  const shortened = renderExecution(createResult({ value: `${atCap}x` }));
  assert.equal(Buffer.byteLength(shortened), MAX_TEXT_BYTES);
  assert.match(shortened, /\[shortened: this text has 20001 bytes; return or print less to see all of it\]$/);
});

test("many logs do not displace the error", () => {
  const text = renderExecution(
    createResult({
      state: "failed",
      logs: [{ level: "log", text: "y".repeat(100_000), atMs: 0 }],
      error: { code: "LIMIT_TIME", message: "too long", retry: false },
    }),
  );
  assert.ok(Buffer.byteLength(text) <= MAX_TEXT_BYTES);
  assert.ok(text.endsWith("Error LIMIT_TIME: too long"));
});

test("a shortened text splits no character", () => {
  const shortened = shorten("€".repeat(1_000), 500);
  assert.ok(shortened.isWellFormed());
  assert.ok(Buffer.byteLength(shortened) <= 500);
  assert.match(shortened, /^€+\n\[shortened/);
});

test("a search without results suggests what to try", () => {
  assert.equal(
    renderSearch({ tools: [], servers: [] }),
    "No tool found. Try fewer or other words, or an empty query to browse.",
  );
});
