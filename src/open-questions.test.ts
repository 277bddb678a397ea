/** What MCP clients may ask people and pass on, over a real queue: for their own principal, and for nobody else's. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ProtocolError } from "@modelcontextprotocol/server";

import { digestOf } from "./text/index.ts";
import { parseSettings } from "./config/index.ts";
import { parsePrincipalId } from "./domain/index.ts";
import type { Principal } from "./domain/index.ts";
import { openQuestions } from "./open-questions.ts";
import { PLAIN_SEAL, executionOf, openQueue } from "./policy/approvals/fixtures/open-queue.ts";
import { AGENT, known } from "./policy/rules/fixtures/ask.ts";
import type { Retry } from "./surfaces/mcp/elicitation/person.ts";
import { takeAnswers } from "./surfaces/mcp/elicitation/take-answers.ts";
import { mask } from "./host-powers.ts";

const OTHER: Principal = { id: known(parsePrincipalId("other")), kind: "agent", groups: [] };
const REQUEST = digestOf("request");
const ALLOW = { action: "accept", content: { decision: "this call" } };

function settingsWith(elicitation: boolean) {
  return parseSettings({ approvals: { elicitation } }, { folder: "/" }, {});
}

async function open() {
  const queue = await openQueue();
  const { approvals } = queue;
  const questions = openQuestions(settingsWith(true), { approvals, seal: PLAIN_SEAL }) ?? assert.fail();
  return { queue, questions };
}

describe("questions to people behind clients", () => {
  it("are there unless the operator turned them off", async () => {
    await using queue = await openQueue();
    const { approvals } = queue;
    assert.equal(openQuestions(settingsWith(false), { approvals, seal: PLAIN_SEAL }), undefined);
    assert.ok(openQuestions(settingsWith(true), { approvals, seal: PLAIN_SEAL }));
  });

  it("are those of the principal's own execution that wait, oldest first, without secrets", async () => {
    const { queue, questions } = await open();
    await using _ = queue;
    mask.add("hunter2-hunter2");
    const second = await queue.ask({ seq: 2, args: { key: "hunter2-hunter2" } });
    const first = await queue.ask({ seq: 1 });
    await queue.ask({ seq: 3, execution: 2 });
    await queue.ask({ seq: 4, principal: OTHER });
    const decided = await queue.ask({ seq: 5, args: { amount: 6 } });
    await questions.answer(AGENT, decided.id, { verdict: "reject" });
    assert.deepEqual(await questions.waiting(AGENT, executionOf(1)), [first.id, second.id]);
    assert.deepEqual(await questions.waiting(OTHER, executionOf(2)), []);
    assert.deepEqual(await questions.find(AGENT, first.id), first);
    assert.doesNotMatch(JSON.stringify((await questions.find(AGENT, second.id)) ?? assert.fail()), /hunter2/);
    assert.equal(await questions.find(OTHER, first.id), undefined, "another's");
    assert.equal(await questions.find(AGENT, decided.id), undefined, "settled");
  });

  it("are looked for without opening any arguments, and opened one by one", async (t) => {
    const { queue, questions } = await open();
    await using _ = queue;
    const asked = [await queue.ask({ seq: 1 }), await queue.ask({ seq: 2 })].map(({ id }) => id);
    const opened = t.mock.method(PLAIN_SEAL, "open").mock;
    assert.deepEqual(await questions.waiting(AGENT, executionOf(1)), asked);
    assert.equal(opened.callCount(), 0);
    assert.equal((await questions.find(AGENT, asked[0] ?? assert.fail()))?.id, asked[0]);
    assert.equal(opened.callCount(), 1);
  });

  it("are answered in the name of the person behind the principal, and of no other", async () => {
    const { queue, questions } = await open();
    await using _ = queue;
    const { id } = await queue.ask();
    await assert.rejects(questions.answer(OTHER, id, { verdict: "approve" }), { code: "REQUEST_NOT_FOUND" });
    assert.equal((await queue.approvals.find(id))?.state, "pending");
    await questions.answer(AGENT, id, { verdict: "approve", scope: "execution" });
    const { state, scope, decidedBy } = (await queue.approvals.find(id)) ?? assert.fail();
    assert.deepEqual([state, scope, decidedBy], ["approved", "execution", `elicitation:${AGENT.id}`]);
  });

  it("leave with the client only what the same principal can bring back", async () => {
    const { queue, questions } = await open();
    await using _ = queue;
    const sealed = questions.close(AGENT, { a: 1 });
    assert.deepEqual(questions.open(AGENT, sealed), { a: 1 });
    assert.throws(() => questions.open(OTHER, sealed));
    assert.throws(() => questions.open(AGENT, "forged"));
  });
});

/** What a client of `agent` sends after it was asked about one call. */
async function asked() {
  const { queue, questions } = await open();
  const { id, execution } = await queue.ask();
  const rawState = questions.close(AGENT, { execution, request: REQUEST, asked: [id], left: [] });
  const take = (retry: Partial<Retry> = {}, asker: object = {}) =>
    takeAnswers(
      { rawState, rawAnswers: { [id]: ALLOW }, ...retry },
      { questions, principal: AGENT, request: REQUEST, ...asker },
    );
  const stateNow = async () => (await queue.approvals.find(id))?.state;
  return { queue, questions, id, execution, take, stateNow };
}

describe("a request that comes again with answers", () => {
  const isRefused = (thrown: unknown): boolean =>
    thrown instanceof ProtocolError && /requestState/.test(thrown.message);

  it("decides what was asked, and is about the execution that asked", async () => {
    const { queue, execution, take, stateNow } = await asked();
    await using _ = queue;
    assert.deepEqual(await take(), { execution, left: new Set() });
    assert.equal(await stateNow(), "approved");
    assert.deepEqual(await take(), { execution, left: new Set() }, "once more");
  });

  it("leaves what was not answered, and decides nothing that was not asked", async () => {
    const { queue, id, execution, take, stateNow } = await asked();
    await using _ = queue;
    const other = await queue.ask({ seq: 2, args: { amount: 7 } });
    assert.deepEqual(await take({ rawAnswers: { [other.id]: ALLOW } }), { execution, left: new Set([id]) });
    assert.equal(await stateNow(), "pending");
    assert.equal((await queue.approvals.find(other.id))?.state, "pending");
  });

  it("is refused, and decides nothing, with a state of another request, principal or making", async () => {
    const { queue, questions, id, execution, take, stateNow } = await asked();
    await using _ = queue;
    const bare = Buffer.from(JSON.stringify({ execution, request: REQUEST, asked: [id] })).toString("base64url");
    for (const rawState of [undefined, 7, "", "forged", bare, questions.close(AGENT, null), questions.close(AGENT, {})])
      await assert.rejects(take({ rawState }), isRefused);
    await assert.rejects(take({}, { request: digestOf("another request") }), isRefused);
    await assert.rejects(take({}, { principal: OTHER }), isRefused);
    await assert.rejects(take({}, { questions: undefined }), isRefused);
    assert.equal(await stateNow(), "pending");
  });
});
