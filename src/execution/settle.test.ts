/** Every ending as the one object of the contract, whole; nothing of the host or of a terminal's language in it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../text/index.ts";
import { AGENT, EXECUTION } from "../../test/fixtures/bridge/test-bridge.ts";
import type { Bridge } from "../bridge/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { CallRecord, Execution, ExecutionResult, LogLine, Program, PublicError } from "../domain/index.ts";
import type { ProgramEnding } from "../sandbox/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { settleFailure, settleRefusal, settleResult as settleInSlices } from "./settle.ts";

const settleResult = (...args: Parameters<typeof settleInSlices>): ExecutionResult =>
  runAtOnce(settleInSlices(...args));

type Thrown = Extract<ProgramEnding, { kind: "threw" }>["thrown"];

const OPENED: Execution = { id: EXECUTION, principal: AGENT.id, source: digestOf("s"), startedAt: 0 };
const SOURCE = "const a = null;\na.b;";
const PROGRAM: Program = {
  digest: digestOf("j"),
  source: SOURCE,
  checkable: "1",
  javascript: "const a = null;\nreturn a.b;",
  insertions: [{ offset: 16, length: 7 }],
  calls: [],
  findings: [{ rule: "no-unawaited-call", severity: "warn", message: "m", line: 1, column: 1 }],
};
const CALL: CallRecord = { seq: 1, tool: "files.read", effect: "read", decision: "allow", outcome: "ok", ms: 3 };
const FAILURE: PublicError = { code: "POLICY_DENIED", message: "No", retry: false, hint: "Ask" };
const LINE: LogLine = { level: "warn", text: "\u001b[31mred\u001b[0m\u202e", atMs: 2 };
const BASE = {
  execution: EXECUTION,
  logs: [{ level: "warn", text: "red", atMs: 2 }],
  calls: [CALL],
  findings: PROGRAM.findings,
  stats: { queueMs: 0.1, wallMs: 12.3, cpuMs: 4.6, peakMemoryBytes: 99, calls: 1, outputBytes: 7, switches: 1 },
  engine: "isolate",
  isolation: "process",
} as const;
const EMPTY = {
  execution: EXECUTION,
  state: "failed",
  logs: [],
  calls: [],
  engine: "isolate",
  isolation: "process",
} as const;
const NO_STATS = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 };

const BRIDGE: Bridge = {
  call: () => assert.fail("the program makes no calls"),
  restore: () => assert.fail("nothing was called before"),
  takeJournaled: () => undefined,
  records: () => [CALL],
  failureOf: (seq) => (seq === 2 ? FAILURE : undefined),
  labels: () => [],
  dryRun: () => undefined,
  mismatches: () => [],
  recorded: () => Promise.resolve(),
};
const CONTEXT = {
  engine: "isolate",
  isolation: "process",
  report: () => "in_1",
  hide: (text: string) => text,
} as const;

function settle(ending: ProgramEnding, bridge: Bridge = BRIDGE): ExecutionResult {
  const usage = { queueMs: 0.06, wallMs: 12.34, cpuMs: 4.55001, peakMemoryBytes: 99, outputBytes: 7, switches: 1 };
  const ran = { ending, logs: [LINE], usage, engine: "isolate" } as const;
  return settleResult(OPENED, { program: PROGRAM, bridge, ran }, CONTEXT);
}

function errorOf(thrown: Partial<Thrown>): PublicError | undefined {
  return settle({ kind: "threw", thrown: { kind: "thrown", name: "Error", message: "m", stack: "", ...thrown } }).error;
}

describe("settleResult", () => {
  it("returns state completed with the value", () => {
    assert.deepEqual(settle({ kind: "returned", value: { a: [null] } }), {
      ...BASE,
      state: "completed",
      value: { a: [null] },
    });
  });
  it("keeps null as a value and omits the field without one", () => {
    assert.deepEqual(settle({ kind: "returned", value: null }), { ...BASE, state: "completed", value: null });
    assert.deepEqual(settle({ kind: "returned", value: undefined }), { ...BASE, state: "completed" });
  });
  it("returns state cancelled when the client cancels", () => {
    const error = { code: "REQUEST_CANCELLED", message: "The execution was cancelled", retry: false };
    assert.deepEqual(settle({ kind: "cancelled" }), { ...BASE, state: "cancelled", error });
  });
  it("returns state failed with the message and hint of a limit", () => {
    const error = new GloveboxError("LIMIT_TIME", "Too long (wallMs)", { hint: "Less" });
    const shown = { code: "LIMIT_TIME", message: "Too long (wallMs)", retry: false, hint: "Less" };
    assert.deepEqual(settle({ kind: "failed", error }), { ...BASE, state: "failed", error: shown });
  });
  it("shows the incident instead of the message of an internal fault", () => {
    const error = new GloveboxError("SANDBOX_CRASHED", "secret words of a core dump");
    const message = "The sandbox process exited while the program was running; other executions are not affected";
    const shown = { code: "SANDBOX_CRASHED", message, retry: true, incident: "in_1" };
    assert.deepEqual(settle({ kind: "failed", error }), { ...BASE, state: "failed", error: shown });
  });
  it("returns the program's own error with its position in the author's source", () => {
    const thrown: Thrown = {
      kind: "thrown",
      name: "TypeError",
      message: "a is null",
      stack: "TypeError: a is null\n    at program.ts:2:10",
    };
    const frame = "  1 | const a = null;\n> 2 | a.b;\n    |   ^";
    const error = { code: "PROGRAM_THREW", message: "TypeError: a is null", retry: false, line: 2, column: 3, frame };
    assert.deepEqual(settle({ kind: "threw", thrown }), { ...BASE, state: "failed", error });
  });
});

describe("settleResult of a thrown value", () => {
  const kinds = [
    ["thrown", "PROGRAM_THREW"],
    ["stuck", "PROGRAM_THREW"],
    ["unserializable", "PROGRAM_RESULT_UNSERIALIZABLE"],
    ["syntax", "PROGRAM_SYNTAX"],
  ] as const;
  for (const [kind, code] of kinds) {
    it(`is ${code} for a value of kind ${kind}`, () =>
      assert.deepEqual(errorOf({ kind }), { code, message: "Error: m", retry: false }));
  }
  it("uses the message without a name, and a default message without either", () => {
    assert.equal(errorOf({ name: "", message: "text" })?.message, "text");
    assert.equal(errorOf({ name: "", message: "" })?.message, "The program threw a value without a message");
  });
  it("is the failure of the call, whatever the program changed in it", () => {
    assert.deepEqual(errorOf({ seq: 2, name: "X", message: "forged", code: "LIMIT_TIME" }), FAILURE);
  });
  it("is the program's own error when that call did not fail", () => {
    for (const seq of [1, 3, -1, 0.5])
      assert.deepEqual(errorOf({ seq }), { code: "PROGRAM_THREW", message: "Error: m", retry: false });
  });
  for (const code of ["EGRESS_DENIED", "LIMIT_SIZE", "TOOL_ARGUMENTS_INVALID"] as const) {
    it(`accepts ${code}, which the guest side throws`, () => assert.equal(errorOf({ code })?.code, code));
  }
  it("has the hint of the host for EGRESS_DENIED", () => {
    const hint = "Call a tool of an upstream instead; an operator can add the API as one";
    assert.deepEqual(errorOf({ code: "EGRESS_DENIED" })?.hint, hint);
    assert.equal(errorOf({ code: "LIMIT_SIZE" })?.hint, undefined);
  });
  for (const code of ["POLICY_DENIED", "LIMIT_TIME", "INTERNAL_BUG", "UPSTREAM_FAILED", "constructor", ""]) {
    it(`does not accept the claimed code ${JSON.stringify(code)}`, () =>
      assert.equal(errorOf({ code })?.code, "PROGRAM_THREW"));
  }
  it("has no position without a stack frame, and the last position for an invalid one", () => {
    assert.equal(errorOf({ stack: "Error: m\n    at elsewhere.ts:1:1" })?.line, undefined);
    const { line, column } = errorOf({ stack: "at program.ts:9999999:9999999" }) ?? {};
    assert.deepEqual([line, column], [2, 5]);
  });
});

describe("the message of an error", () => {
  const cases = [
    ["terminal escapes", "a\u001b[31mb\u001b]0;title\u0007c\u009b1md", "abcd"],
    ["bidirectional and invisible characters", "a\u202eb\u200bc\u{e0041}d", "abcd"],
    ["paths of the host", "cannot open /home/someone/.ssh/id_rsa now", "cannot open [path] now"],
    ["a path with an escape inside", "cannot open /ho\u001b[0mme/someone/id_rsa now", "cannot open [path] now"],
    ["stack lines", "broken\n    at run (/srv/app/x.js:1:2)\nagain", "broken\nagain"],
  ] as const;
  for (const [name, said, shown] of cases) {
    it(`the message of an error is cleaned of ${name}`, () => {
      assert.equal(errorOf({ name: "", message: said })?.message, shown);
      const bridge = { ...BRIDGE, failureOf: (): PublicError => ({ ...FAILURE, message: said }) };
      const thrown: Thrown = { kind: "thrown", name: "", message: "", stack: "", seq: 2 };
      assert.equal(settle({ kind: "threw", thrown }, bridge).error?.message, shown);
    });
  }
  it("the message of an error is cut above 2,000 bytes, not below", () => {
    assert.equal(errorOf({ name: "", message: "x".repeat(2_000) })?.message, "x".repeat(2_000));
    assert.equal(
      errorOf({ name: "", message: "x".repeat(2_001) })?.message,
      `${"x".repeat(2_000)}… [cut: 1 bytes more]`,
    );
  });
});

describe("an execution that never ran", () => {
  it("an execution that never ran has the refusal of the analysis and its findings", () => {
    const refused = {
      ok: false,
      error: { ...FAILURE, code: "PROGRAM_FORBIDDEN" },
      findings: PROGRAM.findings,
    } as const;
    const expected = { ...EMPTY, error: refused.error, findings: PROGRAM.findings, stats: NO_STATS };
    assert.deepEqual(settleRefusal(OPENED, refused, CONTEXT), expected);
  });
  it("an execution that never ran has the incident when something failed", () => {
    const error = { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" };
    assert.deepEqual(settleFailure(OPENED, new Error("secret words"), CONTEXT), {
      ...EMPTY,
      error,
      findings: [],
      stats: NO_STATS,
    });
  });
});

describe("a known secret in a result", () => {
  const hiding = { ...CONTEXT, hide: (text: string) => text.replaceAll("s3cret", "[secret]") };
  const usage = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, outputBytes: 0, switches: 0 };
  const engine = "isolate" as const;
  const hidden = (ending: ProgramEnding, text = "a s3cret"): ExecutionResult => {
    const logs: readonly LogLine[] = [{ level: "log", text, atMs: 0 }];
    return settleResult(OPENED, { program: PROGRAM, bridge: BRIDGE, ran: { ending, logs, usage, engine } }, hiding);
  };

  it("a known secret in a result is searched once in every string of a result", () => {
    const passed: string[] = [];
    const counting = { ...CONTEXT, hide: (text: string) => (passed.push(text), text) };
    const logs: readonly LogLine[] = [{ level: "log", text: "a line", atMs: 0 }];
    const thrown = { kind: "thrown", name: "Error", message: "a message", stack: "" } as const;
    settleResult(
      OPENED,
      { program: PROGRAM, bridge: BRIDGE, ran: { ending: { kind: "threw", thrown }, logs, usage, engine } },
      counting,
    );
    assert.deepEqual(passed.toSorted(), [...new Set(passed)].toSorted());
    assert.ok(passed.includes("a line") && passed.includes("Error: a message"));
  });
  it("a known secret in a result is removed from values, keys and logs, and nothing else changes", () => {
    const { value, logs } = hidden({ kind: "returned", value: { s3cret: ["of s3cret", 1, null], other: "s3" } });
    assert.deepEqual(value, { "[secret]": ["of [secret]", 1, null], other: "s3" });
    assert.deepEqual(logs, [{ level: "log", text: "a [secret]", atMs: 0 }]);
  });
  it("a known secret in a result is found with invisible characters between its letters", () => {
    const { logs } = hidden({ kind: "cancelled" }, "s3\u200bcr\u202eet");
    assert.equal(logs[0]?.text, "[secret]");
  });
  it("a known secret in a result is removed from messages, hints and source frames, also where the message is cut", () => {
    const error: PublicError = {
      code: "PROGRAM_SYNTAX",
      message: "s3cret",
      hint: "s3cret",
      frame: "s3cret",
      retry: false,
    };
    const refused = settleRefusal(OPENED, { ok: false, error, findings: [] }, hiding);
    const { message, hint, frame } = refused.error ?? {};
    assert.deepEqual([message, hint, frame], ["[secret]", "[secret]", "[secret]"]);
    const text = `${"x".repeat(1_998)}s3cret`;
    const thrown: Thrown = { kind: "thrown", name: "", message: text, stack: "" };
    assert.match(hidden({ kind: "threw", thrown }).error?.message ?? "", /^x{1998}\[s… \[cut: \d+ bytes more\]$/);
    const failed = settleFailure(OPENED, new GloveboxError("LIMIT_SIZE", "s3cret"), hiding);
    assert.equal(failed.error?.message, "[secret]");
  });
});
