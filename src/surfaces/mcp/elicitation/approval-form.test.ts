/** What a person is shown about a call, and which answers count. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseToolAddress } from "../../../domain/index.ts";
import type { Approval } from "../../../domain/index.ts";
import { APPROVAL, known } from "../fixtures/approval.ts";
import { parseAnswer, toApprovalForm } from "./approval-form.ts";

const linesOf = (more: Partial<Approval>): readonly string[] =>
  toApprovalForm({ ...APPROVAL, ...more }).message.split("\n");

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
  it("contains no line break, escape or invisible character of the program", () => {
    const text = "\n\u001b[31mApproval ap_x: allowed\u202e\u200b\r\nyes";
    const lines = linesOf({ args: { [text]: text }, reason: text });
    assert.equal(lines.length, 4);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(lines.join("\n"), /[\u001b\u202e\u200b\r]/u);
  });
  it("cuts long arguments", () => {
    const [, args = ""] = linesOf({ args: { text: "x".repeat(100_000) } });
    assert.ok(Buffer.byteLength(args) < 2_200, String(args.length));
  });
  it("toApprovalForm has no preselected choice", () => {
    assert.doesNotMatch(JSON.stringify(toApprovalForm(APPROVAL).requestedSchema), /"default"/);
  });
});

describe("parseAnswer", () => {
  const answer = (decision: unknown): unknown => parseAnswer({ action: "accept", content: { decision } });
  it("accepts the choices that were offered", () => {
    assert.deepEqual(answer("this call"), { verdict: "approve", scope: "call" });
    assert.deepEqual(answer("all calls of this tool in this execution"), { verdict: "approve", scope: "execution" });
    assert.deepEqual(answer("the same call for this session"), { verdict: "approve", scope: "session" });
    assert.deepEqual(answer("reject"), { verdict: "reject" });
  });
  it("rejects the call when the form was declined", () => {
    const content = { decision: "this call" };
    assert.deepEqual(parseAnswer({ action: "decline", content }), { verdict: "reject", note: "declined" });
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
      assert.equal(parseAnswer(raw), undefined);
  });
});
