/** Everything that leaves is redacted, and each text is redacted once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseApprovalId, parseExecutionId, parsePrincipalId, parseRuleId, parseToolAddress } from "../domain/index.ts";
import type { Approval, ExecutionEvent, ExecutionResult } from "../domain/index.ts";
import { digestOf } from "./digest-of.ts";
import { redactPaths } from "./redact-paths.ts";
import { redactApproval, redactEvent, redactResult as redactInPieces } from "./redact-secrets.ts";

/** The results of these tests are small. */
function redactResult(...args: Parameters<typeof redactInPieces>): ExecutionResult {
  const end = redactInPieces(...args).next();
  return end.done === true ? end.value : assert.fail();
}

const execution = parseExecutionId(`ex_${"0".repeat(24)}`);
const id = parseApprovalId(`ap_${"0".repeat(24)}`);
const principal = parsePrincipalId("ada");
const tool = parseToolAddress("files.write");
const rule = parseRuleId("rule");
assert.ok(execution && id && principal && tool && rule);

/** Counts how often each text passes. */
function createSpy() {
  const passed = new Map<string, number>();
  const hide = (text: string): string => {
    passed.set(text, (passed.get(text) ?? 0) + 1);
    return text.replaceAll("s3cret", "[secret]");
  };
  return { hide, passed };
}

const RESULT: ExecutionResult = {
  execution,
  state: "failed",
  value: { key: ["value s3cret"] },
  error: { code: "PROGRAM_THREW", message: "message s3cret", retry: false, hint: "hint s3cret", frame: "frame s3cret" },
  logs: [{ level: "log", text: "line s3cret", atMs: 0 }],
  calls: [{ seq: 1, tool: "tool s3cret", effect: "read", decision: "deny", outcome: "error", ms: 1 }],
  findings: [{ rule: "no-eval", severity: "warn", message: "finding s3cret", line: 1, column: 1 }],
  stats: { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 1, outputBytes: 0 },
  engine: "isolate",
  isolation: "process",
};
const APPROVAL: Approval = {
  id,
  execution,
  seq: 1,
  principal,
  tool,
  effect: "write",
  args: { body: "argument s3cret" },
  reason: "reason s3cret",
  argsDigest: digestOf("args"),
  rule,
  labels: [],
  definition: digestOf("tool"),
  state: "pending",
  createdAt: 0,
  expiresAt: 1,
  plan: {
    exact: true,
    calls: [
      {
        tool,
        effect: "write",
        access: "literal",
        times: "once",
        when: "always",
        at: [],
        args: [{ body: "literal s3cret" }],
      },
    ],
  },
};

/** Each text passed once, and nothing that is left holds the secret. */
function assertRedactedOnce(redacted: unknown, passed: ReadonlyMap<string, number>, texts: readonly string[]): void {
  assert.equal(JSON.stringify(redacted).includes("s3cret"), false);
  for (const text of texts) assert.equal(passed.get(text), 1, text);
}

describe("a result", () => {
  const texts = ["value s3cret", "message s3cret", "hint s3cret", "frame s3cret", "line s3cret", "tool s3cret"];
  it("a result has every text redacted exactly once", () => {
    const { hide, passed } = createSpy();
    assertRedactedOnce(redactResult(RESULT, hide), passed, [...texts, "key", "finding s3cret"]);
  });
  it("a result has every text redacted exactly once when its message is also cleaned", () => {
    const { hide, passed } = createSpy();
    assertRedactedOnce(redactResult(RESULT, hide, { foreignPaths: redactPaths }), passed, texts);
  });
  it("a result has a foreign message shortened after the redaction, and other messages whole", () => {
    const error = {
      code: "PROGRAM_THREW",
      message: `${"x".repeat(1_995)}s3cret at /home/ada/x.js`,
      retry: false,
    } as const;
    const { hide } = createSpy();
    const message = redactResult({ ...RESULT, error }, hide, { foreignPaths: redactPaths }).error?.message ?? "";
    assert.match(message, /^x{1995}\[secr… \[cut: \d+ bytes more\]$/);
    assert.equal(redactResult({ ...RESULT, error }, hide).error?.message, error.message.replace("s3cret", "[secret]"));
  });
});

describe("an event", () => {
  const events: readonly (readonly [ExecutionEvent, readonly string[]])[] = [
    [{ kind: "log", line: { level: "log", text: "line s3cret", atMs: 0 } }, ["line s3cret"]],
    [
      {
        kind: "answered",
        record: { seq: 1, tool: "tool s3cret", effect: "read", decision: "deny", outcome: "error", ms: 1 },
      },
      ["tool s3cret"],
    ],
    [{ kind: "asked", approval: APPROVAL }, ["argument s3cret", "reason s3cret", "literal s3cret"]],
  ];
  for (const [event, texts] of events) {
    it(`of kind ${event.kind} has every text redacted exactly once`, () => {
      const { hide, passed } = createSpy();
      assertRedactedOnce(redactEvent(event, hide), passed, texts);
    });
  }
  it("without a foreign text passes as it is", () => {
    const opened: ExecutionEvent = { kind: "opened", execution };
    assert.equal(redactEvent(opened, createSpy().hide), opened);
  });
});

describe("an approval", () => {
  it("an approval has arguments, reason and plan redacted exactly once", () => {
    const { hide, passed } = createSpy();
    assertRedactedOnce(redactApproval(APPROVAL, hide), passed, ["argument s3cret", "reason s3cret", "literal s3cret"]);
  });
});

describe("a line of the log", () => {
  it("a line of the log is redacted also where invisible characters are between the letters of a secret", () => {
    const { hide } = createSpy();
    const redacted = redactResult({ ...RESULT, logs: [{ level: "log", text: "s3\u200bcr\u202eet", atMs: 0 }] }, hide);
    assert.equal(redacted.logs[0]?.text, "[secret]");
  });
});
