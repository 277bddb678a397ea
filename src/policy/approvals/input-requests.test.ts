/** Input requests in the queue: answered once, by a person, sealed, and forgotten after delivery. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { AGENT } from "../rules/fixtures/decision-case.ts";
import { OPERATOR, openQueue, requestOf } from "./fixtures/open-queue.ts";
import type { Queue } from "./fixtures/open-queue.ts";

const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const QUESTION = { mode: "form", server: "shop", message: "Who?", schema: SCHEMA } as const;
const ANSWER = { verdict: "approve", content: { name: "Ada Quill" } } as const;

function ask({ approvals }: Queue, seq = 1) {
  const { call, tool, labels } = requestOf({ seq });
  return approvals.request({ call, tool, labels, question: QUESTION });
}

it("an input request is answered once, and only by an operator", async () => {
  await using queue = await openQueue();
  const { id, args, state } = await ask(queue);
  assert.deepEqual([/^ir_[0-9a-f]{24}$/.test(id), args, state], [true, QUESTION, "pending"]);
  assert.deepEqual(await queue.approvals.takeAnswer(id), { action: "cancel" });
  await assert.rejects(queue.approvals.decide(id, ANSWER, AGENT), { code: "POLICY_DENIED" });
  await assert.rejects(queue.approvals.decide(id, { verdict: "approve" }, OPERATOR), { code: "REQUEST_INVALID" });
  await queue.approvals.decide(id, ANSWER, OPERATOR);
  await assert.rejects(queue.approvals.decide(id, ANSWER, OPERATOR), { code: "REQUEST_CONFLICT" });
  assert.deepEqual(await queue.approvals.takeAnswer(id), { action: "accept", content: { name: "Ada Quill" } });
  assert.equal((await ask(queue)).id, id, "the same question of a repeated call has the same answer");
});

it("an input request that is rejected is declined", async () => {
  await using queue = await openQueue();
  const { id } = await ask(queue);
  await queue.approvals.decide(id, { verdict: "reject" }, OPERATOR);
  assert.deepEqual(await queue.approvals.takeAnswer(id), { action: "decline" });
});

it("an answer is in no record and no list, applies to no other call, and is erased with its execution", async () => {
  await using queue = await openQueue();
  const [first, second] = [await ask(queue), await ask(queue, 2)];
  await queue.approvals.decide(first.id, { ...ANSWER, scope: "execution" }, OPERATOR);
  assert.equal((await queue.approvals.find(second.id))?.state, "pending");
  const seen = JSON.stringify([
    await queue.records(),
    await queue.approvals.list({}),
    await queue.approvals.find(first.id),
  ]);
  assert.match(seen, /"input\.decided"/);
  assert.match(seen, /"fields":\["name"\]/);
  assert.doesNotMatch(seen, /Quill/);
  await queue.approvals.withdraw(first.execution);
  assert.deepEqual(await queue.approvals.takeAnswer(first.id), { action: "cancel" });
  assert.deepEqual((await queue.store.approvals.find(first.id))?.sealedArgs.length, 0);
  assert.equal((await queue.approvals.find(second.id))?.state, "revoked");
});
