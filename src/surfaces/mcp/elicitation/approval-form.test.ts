/** What a person is shown about a call, and which answers count. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseApprovalId, parseToolAddress } from "../../../domain/index.ts";
import type { Approval, JsonObject } from "../../../domain/index.ts";
import { APPROVAL, known } from "../fixtures/approval.ts";
import { MAX_SHOWN_BYTES, canApprove, parseAnswer, toApprovalForm, toForm } from "./approval-form.ts";
import type { ApprovalForm } from "./approval-form.ts";

const CHOICES = [
  "this call",
  "all calls of this tool in this execution",
  "the same call for this session",
  "all calls of this tool for this session",
  "reject",
] as const;

const linesOf = (more: Partial<Approval>): readonly string[] =>
  toApprovalForm({ ...APPROVAL, ...more }).message.split("\n");

const choicesOf = ({ requestedSchema }: ApprovalForm): unknown => {
  const { decision } = requestedSchema.properties;
  return decision && "enum" in decision ? decision.enum : undefined;
};

describe("toApprovalForm", () => {
  it("shows the tool, its arguments and the reason", () => {
    assert.deepEqual(linesOf({}), [
      "A program wants to call shop.pay, which destroys something (destroy).",
      'Arguments: {"amount":5}',
      "Why you are asked: money leaves",
      `Approval ${APPROVAL.id}, execution ${APPROVAL.execution}`,
    ]);
  });
  it("shows which private or untrusted data was read before", () => {
    const tool = known(parseToolAddress("mail.read"));
    const labels = [{ label: "private", tool, execution: APPROVAL.execution, seq: 1 } as const];
    assert.equal(linesOf({ labels })[3], "It has read: private data (mail.read)");
  });
  it("shows evidence in one line, or the command for evidence that is long", () => {
    const none = { kind: "none", reason: "the replay\nfailed" } as const;
    assert.equal(linesOf({ evidence: none })[3], String.raw`Evidence: no evidence: the replay\nfailed`);
    const long = { kind: "none", reason: "x".repeat(2_000) } as const;
    const form = toApprovalForm({ ...APPROVAL, evidence: long });
    const expected = `Evidence: too long for this form; run: glovebox approvals show ${APPROVAL.id}`;
    assert.deepEqual([form.message.split("\n")[3], choicesOf(form)], [expected, CHOICES]);
  });
  it("writes out line breaks, controls and invisible characters of the program, and drops none", () => {
    const hidden = "\n\u001b[31m\u202e\u200b\u00a0\u3164\u2800\ufe0f\u{e0041}\r\t\u0085";
    const args = { [hidden]: `${hidden} ap_x: allowed`, spaces: "a   b" };
    const lines = linesOf({ args, reason: `money\n${hidden}leaves` });
    assert.equal(lines.length, 4);
    for (const line of lines) assert.match(line, /^[ -~]*$/);
    assert.deepEqual(JSON.parse(lines[1]?.slice("Arguments: ".length) ?? ""), args);
    assert.match(lines[1] ?? "", /\\u202e\\u200b\\u00a0\\u3164\\u2800\\ufe0f\\udb40\\udc41/);
    assert.match(lines[2] ?? "", /money\\n\\n\\u001b\[31m\\u202e/);
  });
  it("shows visible characters of every script as they are", () => {
    assert.equal(linesOf({ args: { to: "Zoë 世界 🧤" } })[1], 'Arguments: {"to":"Zoë 世界 🧤"}');
  });
  it("shows whole arguments below and at the limit, and above it only offers to reject and names the full view", () => {
    const room = MAX_SHOWN_BYTES - APPROVAL.reason.length - '{"text":""}'.length;
    for (const length of [room - 1, room]) {
      const text = "x".repeat(length);
      const form = toApprovalForm({ ...APPROVAL, args: { text } });
      assert.equal(form.message.split("\n")[1], `Arguments: {"text":"${text}"}`);
      assert.deepEqual(choicesOf(form), CHOICES);
      assert.equal(canApprove({ ...APPROVAL, args: { text } }), true);
    }
    // Escapes count as they are shown.
    for (const text of ["x".repeat(room + 1), "\u200b".repeat(room / 6 + 1), "x".repeat(1_000_000)]) {
      const form = toApprovalForm({ ...APPROVAL, args: { text } });
      assert.deepEqual(form.message.split("\n").slice(1, -1), [
        "Arguments: too long for this form, which can only reject the call.",
        `To see all of them and to approve, run: glovebox approvals show ${APPROVAL.id}`,
        "Why you are asked: money leaves",
      ]);
      assert.deepEqual(choicesOf(form), ["reject"]);
      assert.equal(canApprove({ ...APPROVAL, args: { text } }), false);
    }
  });
  it("names the command of this installation", () => {
    const form = toApprovalForm(
      { ...APPROVAL, args: { text: "x".repeat(5_000) } },
      { show: "npx --no-install glovebox show" },
    );
    assert.match(form.message, /^To see all of them and to approve, run: npx --no-install glovebox show$/m);
  });
  it("only offers to reject if the reason is too long or the arguments are not known", () => {
    const long = toApprovalForm({ ...APPROVAL, reason: "x".repeat(MAX_SHOWN_BYTES) });
    assert.deepEqual(choicesOf(long), ["reject"]);
    assert.ok(Buffer.byteLength(long.message) < 1_000, String(long.message.length));
    for (const argsShown of ["beginning", "dropped", "damaged"] as const)
      assert.deepEqual(choicesOf(toApprovalForm({ ...APPROVAL, args: null, argsShown })), ["reject"]);
  });
  it("toApprovalForm has no preselected choice", () => {
    assert.doesNotMatch(JSON.stringify(toApprovalForm(APPROVAL).requestedSchema), /"default"/);
  });
});

describe("toForm of an input request", () => {
  const id = known(parseApprovalId(`ir_${"0".repeat(24)}`));
  const ask = (properties: JsonObject, more: JsonObject = {}) => {
    const schema = { type: "object", properties, required: [] };
    return toForm({ ...APPROVAL, id, args: { mode: "form", server: "shop", message: "a\nb", schema, ...more } });
  };
  it("names the server, keeps its text on one line, and passes its form on", () => {
    const form = ask({ name: { type: "string" } });
    assert.deepEqual(form.message.split("\n"), [
      "The server shop asks you, while a program calls shop.pay. Your answer goes to this server only.",
      String.raw`It says: a\nb`,
      `Input request ${id}`,
    ]);
    assert.ok("requestedSchema" in form);
    assert.deepEqual(form.requestedSchema, { type: "object", properties: { name: { type: "string" } }, required: [] });
  });
  it("says why the answer before was not sent, on one line", () => {
    const approval = { ...APPROVAL, id, args: { mode: "form", server: "shop", message: "Who?", schema: {} } };
    const problem = "name is\nmissing";
    assert.equal(
      toForm(approval, { problem }).message.split("\n")[2],
      String.raw`Please answer again. name is\nmissing`,
    );
    assert.doesNotMatch(toForm(approval).message, /answer again/);
  });
  it("warns of a field that looks like a secret, and of no other", () => {
    for (const name of ["password", "apiKey", "accessToken"])
      assert.match(ask({ [name]: {} }).message, /password or a key/);
    assert.match(ask({ a: { title: "Your passphrase" } }).message, /password or a key/);
    for (const name of ["name", "color"]) assert.doesNotMatch(ask({ [name]: {} }).message, /password or a key/);
  });
  it("shows an address in the mode of the protocol", () => {
    const form = ask({}, { mode: "url", url: "https://a.example/" });
    assert.deepEqual("url" in form && [form.mode, form.url], ["url", "https://a.example/"]);
  });
  it("accepts its answer, and nothing when the form was closed", () => {
    const parse = (raw: unknown) => parseAnswer(raw, { mayApprove: true, id });
    assert.deepEqual(parse({ action: "accept", content: { name: "x" } }), {
      verdict: "approve",
      content: { name: "x" },
    });
    assert.deepEqual(parse({ action: "decline" }), { verdict: "reject", note: "declined" });
    assert.equal(parse({ action: "cancel" }), undefined);
  });
});

describe("parseAnswer", () => {
  const mayApprove = true;
  const answer = (decision: unknown, offered = { mayApprove }): unknown =>
    parseAnswer({ action: "accept", content: { decision } }, offered);
  it("accepts the choices that were offered", () => {
    assert.deepEqual(answer("this call"), { verdict: "approve", scope: "call" });
    assert.deepEqual(answer("all calls of this tool in this execution"), { verdict: "approve", scope: "execution" });
    assert.deepEqual(answer("the same call for this session"), { verdict: "approve", scope: "session" });
    assert.deepEqual(answer("all calls of this tool for this session"), { verdict: "approve", scope: "session-tool" });
    for (const always of ["always-tool", "always-arguments", "always"]) assert.equal(answer(always), undefined);
    assert.deepEqual(answer("reject"), { verdict: "reject" });
  });
  it("accepts no approval if only rejecting was offered", () => {
    const offered = { mayApprove: false };
    for (const choice of CHOICES.slice(0, -1)) assert.equal(answer(choice, offered), undefined);
    assert.deepEqual(answer("reject", offered), { verdict: "reject" });
    assert.deepEqual(parseAnswer({ action: "decline" }, offered), { verdict: "reject", note: "declined" });
  });
  it("rejects the call when the form was declined", () => {
    const content = { decision: "this call" };
    assert.deepEqual(parseAnswer({ action: "decline", content }, { mayApprove }), {
      verdict: "reject",
      note: "declined",
    });
  });
  it("returns undefined in any other case", () => {
    for (const decision of ["", "This call", "approve", "constructor", true, null, ["this call"]])
      assert.equal(answer(decision), undefined);
    const content = { decision: "this call" };
    for (const raw of [
      undefined,
      null,
      "accept",
      [],
      {},
      { action: "accept" },
      { action: "cancel", content },
      { content },
    ])
      assert.equal(parseAnswer(raw, { mayApprove }), undefined);
  });
});
