/** Answers that a client sends with a repeated request, over a real queue of approvals. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ProtocolError } from "@modelcontextprotocol/server";

import { parsePrincipalId } from "../../../domain/index.ts";
import type { Principal } from "../../../domain/index.ts";
import { createClientApprovals } from "../../../policy/index.ts";
import { PLAIN_SEAL, openQueue } from "../../../policy/approvals/fixtures/open-queue.ts";
import { AGENT, known } from "../../../policy/rules/fixtures/decision-case.ts";
import { digestOf } from "../../../text/index.ts";
import { takeAnswers } from "./person.ts";
import type { Retry } from "./person.ts";

const OTHER: Principal = { id: known(parsePrincipalId("other")), kind: "agent", groups: [] };
const REQUEST = digestOf("request");
const ALLOW = { action: "accept", content: { decision: "this call" } };

/** One pending approval, and what the client of its principal sends back. */
async function asked() {
  const queue = await openQueue();
  const { approvals } = queue;
  const options = { approvals, seal: PLAIN_SEAL, hide: (text: string) => text, isEnabled: true, isLocal: () => true };
  const clientApprovals = createClientApprovals(options) ?? assert.fail();
  const { id, execution } = await queue.request();
  const rawState = clientApprovals.close(AGENT, { execution, request: REQUEST, asked: [id], left: [] });
  const take = (retry: Partial<Retry> = {}, asker: object = {}) =>
    takeAnswers(
      { rawState, rawAnswers: { [id]: ALLOW }, ...retry },
      { clientApprovals, principal: AGENT, request: REQUEST, problems: new Map(), ...asker },
    );
  const stateNow = async () => (await queue.approvals.find(id))?.state;
  return { queue, clientApprovals, id, execution, take, stateNow };
}

describe("takeAnswers", () => {
  const isRefused = (thrown: unknown): boolean =>
    thrown instanceof ProtocolError && /requestState/.test(thrown.message);

  it("decides the approvals that the client was shown, and returns their execution", async () => {
    const { queue, execution, take, stateNow } = await asked();
    await using _ = queue;
    assert.deepEqual(await take(), { execution, left: new Set() });
    assert.equal(await stateNow(), "approved");
    assert.deepEqual(await take(), { execution, left: new Set() }, "once more");
  });

  it("leaves approvals without an answer, and decides none that the client was not shown", async () => {
    const { queue, id, execution, take, stateNow } = await asked();
    await using _ = queue;
    const other = await queue.request({ seq: 2, args: { amount: 7 } });
    assert.deepEqual(await take({ rawAnswers: { [other.id]: ALLOW } }), { execution, left: new Set([id]) });
    assert.equal(await stateNow(), "pending");
    assert.equal((await queue.approvals.find(other.id))?.state, "pending");
  });

  it("accepts no approval where only rejecting was offered, and a rejection there", async () => {
    const { queue, clientApprovals, id, execution, take, stateNow } = await asked();
    await using _ = queue;
    const round = { execution, request: REQUEST, asked: [id], rejectOnly: [id], left: [] };
    const rawState = clientApprovals.close(AGENT, round);
    assert.deepEqual(await take({ rawState }), { execution, left: new Set([id]) });
    assert.equal(await stateNow(), "pending");
    const rawAnswers = { [id]: { action: "accept", content: { decision: "reject" } } };
    assert.deepEqual(await take({ rawState, rawAnswers }), { execution, left: new Set() });
    assert.equal(await stateNow(), "rejected");
  });

  it("refuses a state of another request, another principal or another origin, and decides nothing", async () => {
    const { queue, clientApprovals, id, execution, take, stateNow } = await asked();
    await using _ = queue;
    const bare = Buffer.from(JSON.stringify({ execution, request: REQUEST, asked: [id] })).toString("base64url");
    for (const rawState of [
      undefined,
      7,
      "",
      "forged",
      bare,
      clientApprovals.close(AGENT, null),
      clientApprovals.close(AGENT, {}),
    ])
      await assert.rejects(take({ rawState }), isRefused);
    await assert.rejects(take({}, { request: digestOf("another request") }), isRefused);
    await assert.rejects(take({}, { principal: OTHER }), isRefused);
    await assert.rejects(take({}, { clientApprovals: undefined }), isRefused);
    assert.equal(await stateNow(), "pending");
  });
});
