/** What a reviewer sees of a call that waits, also when its program tries to look harmless. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  parseApprovalId,
  parseConnectorId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseRuleId,
  parseToolAddress,
} from "../../../domain/index.ts";
import type { Approval, CallPlan } from "../../../domain/index.ts";
import type { ApprovalReview } from "../../../policy/approvals/review.ts";
import { formatReview, summarizeApproval } from "./print-approval.ts";

const HOUR_MS = 3_600_000;
const ID = known(parseApprovalId(`ap_${"0".repeat(24)}`));
const EXECUTION = known(parseExecutionId(`ex_${"0".repeat(24)}`));
const TOOL = known(parseToolAddress("shop.pay"));
const DIGEST = known(parseDigest(`sha256:${"0".repeat(64)}`));
const PLANNED: CallPlan["calls"][number] = {
  tool: TOOL,
  effect: "write",
  access: "literal",
  times: "once",
  when: "always",
  at: [{ line: 2, column: 7 }],
};
const APPROVAL: Approval = {
  id: ID,
  execution: EXECUTION,
  seq: 3,
  principal: known(parsePrincipalId("local")),
  session: "s1",
  tool: TOOL,
  definition: DIGEST,
  effect: "write",
  args: { amount: 5, to: "ada" },
  argsDigest: DIGEST,
  plan: { exact: true, calls: [PLANNED] },
  rule: known(parseRuleId("rules[0]")),
  reason: "money leaves",
  labels: [{ label: "private", tool: TOOL, execution: EXECUTION, seq: 1 }],
  createdAt: 0,
  expiresAt: 24 * HOUR_MS,
  state: "pending",
};
const REVIEW: ApprovalReview = {
  approval: APPROVAL,
  execution: { state: "paused", startedAt: 0, source: "const sum = 5;\nawait shop.pay({ amount: sum })" },
  places: [{ line: 2, column: 7 }],
  calls: [{ seq: 1, tool: "shop.list", effect: "read", decision: "allow", outcome: "ok" }],
};

test("a reviewer sees the evidence of a call after its arguments, one line each", () => {
  const source = { tool: "mail.read", seq: 1 };
  const evidence: NonNullable<Approval["evidence"]> = {
    kind: "compared",
    rounds: 4,
    wanted: 4,
    made: 4,
    sources: [source],
    args: [
      { name: "to\nfake: line", finding: "constant" },
      { name: "amount", finding: "changed", cause: { sources: [source], isOneOf: false }, contains: [] },
    ],
    hadRead: false,
  };
  const lines = formatReview({ ...REVIEW, approval: { ...APPROVAL, evidence } }, HOUR_MS);
  assert.deepEqual(lines.slice(11, 16), [
    "evidence:",
    String.raw`  \`to\nfake: line\` depends on nothing that was read: it is the same wherever the program makes this call`.replaceAll(
      "\\`",
      "`",
    ),
    "  `amount` changes with mail.read #1",
    "  it was called in all of 4 replays, which does not prove that it always is",
    "  seen in 4 replays with other data in place of mail.read #1; a rare case may be missed",
  ]);
});

test("a reviewer sees the call, its rule, the program with the line marked, its plan and past calls", () => {
  assert.deepEqual(formatReview(REVIEW, HOUR_MS), [
    `${ID}: pending, expires in 23 h`,
    `tool: shop.pay (write), definition ${DIGEST}`,
    "rule: rules[0]",
    "reason: money leaves",
    `asked by: local, session s1, execution ${EXECUTION} (paused), call 3`,
    `has read: private (shop.pay, call 1 of ${EXECUTION})`,
    "arguments:",
    "  {",
    '    "amount": 5,',
    '    "to": "ada"',
    "  }",
    "program: the marked line makes this call",
    "     1  const sum = 5;",
    ">    2  await shop.pay({ amount: sum })",
    "can call:",
    "  shop.pay (write, once, always) at 2:7",
    "did so far:",
    "  1 shop.list (read): allow, ok",
  ]);
});

test("a changed tool definition is a warning right below the tool name", () => {
  const [server, definition] = [known(parseConnectorId("sh\u202eop")), DIGEST];
  const lines = formatReview({ ...REVIEW, change: { server, definition, seenAt: HOUR_MS } }, HOUR_MS);
  const warning = [
    String.raw`warning: since 1970-01-01T01:00:00.000Z the server sh\u202eop defines this tool differently, which is withheld`,
    "  The approval is for the former definition; `glovebox servers` shows the difference",
  ];
  assert.deepEqual(lines, formatReview(REVIEW, HOUR_MS).toSpliced(2, 0, ...warning));
});

test("unknown values are printed as unknown, never omitted", () => {
  const { plan: _plan, session: _session, ...unknown } = APPROVAL;
  const lines = formatReview({ approval: { ...unknown, labels: [] }, execution: null, places: [], calls: [] }, 0);
  assert.deepEqual(lines.slice(4, 6), [
    `asked by: local, execution ${EXECUTION} (no longer known), call 3`,
    "has read: nothing labeled",
  ]);
  assert.deepEqual(lines.slice(-5), [
    "program: none, or no longer known",
    "can call:",
    "  not known",
    "did so far:",
    "  nothing",
  ]);
});

test("all possible lines of a call are marked, and none if the line is not certain", () => {
  const programOf = (places: ApprovalReview["places"]) =>
    formatReview({ ...REVIEW, places }, 0).filter((line) => /^program|^[ >] +\d+ {2}/.test(line));
  const place = (line: number) => ({ line, column: 1 });
  assert.deepEqual(programOf([place(1), place(2)]), [
    "program: one of the marked places makes this call",
    ">    1  const sum = 5;",
    ">    2  await shop.pay({ amount: sum })",
  ]);
  assert.deepEqual(programOf([]), [
    "program: the line of this call is not certain",
    "     1  const sum = 5;",
    "     2  await shop.pay({ amount: sum })",
  ]);
});

test("a program of up to 120 lines is printed whole, a longer one around the marked line", () => {
  const numbersOf = (lines: number, places = [{ line: 60, column: 1 }]) => {
    const execution = { state: "paused", startedAt: 0, source: Array.from({ length: lines }, () => "x").join("\n") };
    const shown = formatReview({ ...REVIEW, execution: execution as never, places }, 0);
    const numbers = shown.flatMap((line) => /^[ >] +(\d+) {2}/.exec(line)?.[1] ?? []);
    return [numbers.length, numbers.at(0), numbers.at(-1), shown.find((line) => line.includes("omitted"))];
  };
  assert.deepEqual(numbersOf(119), [119, "1", "119", undefined]);
  assert.deepEqual(numbersOf(120), [120, "1", "120", undefined]);
  assert.deepEqual(numbersOf(121), [25, "48", "72", "  96 lines are omitted; --json has all"]);
  assert.deepEqual(numbersOf(121, []), [120, "1", "120", "  1 lines are omitted; --json has all"]);
});

test("invisible, bidirectional and control characters are written out", () => {
  const hostile = "a\u202eb\u200bc\u001b[2Jd\u{e0041}e\rf";
  const approval = { ...APPROVAL, args: { [hostile]: hostile }, reason: `${hostile}\nreason: fake` };
  const execution = { state: "paused", startedAt: 0, source: `await shop.pay() // ${hostile}` } as const;
  const lines = [...formatReview({ ...REVIEW, approval, execution }, 0), summarizeApproval(approval, 0)];
  for (const line of lines) assert.match(line, /^[ -~\n]*$/);
  assert.ok(lines.includes(String.raw`reason: a\u202eb\u200bc\u001b[2Jd\udb40\udc41e\u000df\nreason: fake`));
  assert.equal(lines.filter((line) => line.startsWith("reason:")).length, 1);
  assert.ok(lines.includes(String.raw`     1  await shop.pay() // a\u202eb\u200bc\u001b[2Jd\udb40\udc41e`));
});

test("the list has the call, its principal and expiry, and the decision of settled ones", () => {
  const asked = `shop.pay (write) for local in ${EXECUTION}, call 3: money leaves\n  {"amount":5,"to":"ada"}`;
  assert.equal(summarizeApproval(APPROVAL, 0), `${ID} pending, expires in 1 d: ${asked}`);
  assert.equal(summarizeApproval(APPROVAL, 24 * HOUR_MS - 999), `${ID} pending, expires in less than 1 s: ${asked}`);
  const decided = { state: "rejected", scope: "execution", decidedBy: "operator", decidedAt: 0, note: "no" } as const;
  assert.equal(
    summarizeApproval({ ...APPROVAL, ...decided }, 0),
    `${ID} rejected for this execution by operator at 1970-01-01T00:00:00.000Z: no: ${asked}`,
  );
  const long = { ...APPROVAL, args: { text: "x".repeat(500) } };
  assert.ok(summarizeApproval(long, 0).endsWith("bytes more]"));
});

test("dropped and damaged arguments are named, and a beginning is marked as such", () => {
  const shown = (more: Partial<Approval>): readonly (string | undefined)[] => {
    const approval = { ...APPROVAL, ...more };
    const lines = formatReview({ ...REVIEW, approval }, HOUR_MS);
    return [summarizeApproval(approval, HOUR_MS).split("\n")[1], lines[lines.indexOf("arguments:") + 1]];
  };
  const twice = (text: string) => [`  ${text}`, `  ${text}`];
  assert.deepEqual(shown({ args: null, argsShown: "dropped" }), twice(`no longer kept; their digest is ${DIGEST}`));
  assert.deepEqual(shown({ args: null, argsShown: "damaged" }), twice("damaged in the store: it cannot be approved"));
  assert.deepEqual(shown({ args: '{"a":"\u202e', argsShown: "beginning" }), twice(String.raw`{"a":"\u202e`));
  assert.deepEqual(shown({ args: null }), twice("null"));
});

function known<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}
