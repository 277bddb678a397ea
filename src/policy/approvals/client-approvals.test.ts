/** What MCP clients may show to people and answer for them, over a real queue: for their own principal only. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parsePrincipalId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import { AGENT, known } from "../rules/fixtures/decision-case.ts";
import { createClientApprovals } from "./client-approvals.ts";
import { PLAIN_SEAL, executionOf, openQueue } from "./fixtures/open-queue.ts";

const OTHER: Principal = { id: known(parsePrincipalId("other")), kind: "agent", groups: [] };
const REMOTE: Principal = { id: known(parsePrincipalId("agent:ada/editor")), kind: "agent", groups: [] };
const isLocal = ({ id }: Principal): boolean => id !== REMOTE.id;
const hide = (text: string): string => text.replaceAll("hunter2-hunter2", "[secret]");

async function open() {
  const queue = await openQueue();
  const { approvals } = queue;
  const options = { approvals, seal: PLAIN_SEAL, hide, isEnabled: true, isLocal };
  return { queue, clientApprovals: createClientApprovals(options) ?? assert.fail() };
}

describe("client approvals", () => {
  it("exist unless the operator turned them off", async () => {
    await using queue = await openQueue();
    const { approvals } = queue;
    const options = { approvals, seal: PLAIN_SEAL, hide, isLocal };
    assert.equal(createClientApprovals({ ...options, isEnabled: false }), undefined);
    assert.ok(createClientApprovals({ ...options, isEnabled: true }));
  });

  it("lists the principal's own pending approvals of an execution, oldest first, without secrets", async () => {
    const { queue, clientApprovals } = await open();
    await using _ = queue;
    const second = await queue.request({ seq: 2, args: { key: "hunter2-hunter2" } });
    const first = await queue.request({ seq: 1 });
    await queue.request({ seq: 3, execution: 2 });
    await queue.request({ seq: 4, principal: OTHER });
    const decided = await queue.request({ seq: 5, args: { amount: 6 } });
    await clientApprovals.answer(AGENT, decided.id, { verdict: "reject" });
    assert.deepEqual(await clientApprovals.waiting(AGENT, executionOf(1)), [first.id, second.id]);
    assert.deepEqual(await clientApprovals.waiting(OTHER, executionOf(2)), []);
    assert.deepEqual(await clientApprovals.find(AGENT, first.id), first);
    assert.doesNotMatch(JSON.stringify((await clientApprovals.find(AGENT, second.id)) ?? assert.fail()), /hunter2/);
    assert.equal(await clientApprovals.find(OTHER, first.id), undefined, "another's");
    assert.equal(await clientApprovals.find(AGENT, decided.id), undefined, "settled");
  });

  it("lists approvals without opening their arguments, and opens them one by one", async (t) => {
    const { queue, clientApprovals } = await open();
    await using _ = queue;
    const asked = [await queue.request({ seq: 1 }), await queue.request({ seq: 2 })].map(({ id }) => id);
    const opened = t.mock.method(PLAIN_SEAL, "open").mock;
    assert.deepEqual(await clientApprovals.waiting(AGENT, executionOf(1)), asked);
    assert.equal(opened.callCount(), 0);
    assert.equal((await clientApprovals.find(AGENT, asked[0] ?? assert.fail()))?.id, asked[0]);
    assert.equal(opened.callCount(), 1);
  });

  it("decides in the name of the person behind the principal, and of no other", async () => {
    const { queue, clientApprovals } = await open();
    await using _ = queue;
    const { id } = await queue.request();
    await assert.rejects(clientApprovals.answer(OTHER, id, { verdict: "approve" }), { code: "REQUEST_NOT_FOUND" });
    assert.equal((await queue.approvals.find(id))?.state, "pending");
    await clientApprovals.answer(AGENT, id, { verdict: "approve", scope: "execution" });
    const { state, scope, decidedBy } = (await queue.approvals.find(id)) ?? assert.fail();
    assert.deepEqual([state, scope, decidedBy], ["approved", "execution", `elicitation:${AGENT.id}`]);
  });

  it("neither shows an approval to a client that logged in nor takes its decision", async () => {
    const { queue, clientApprovals } = await open();
    await using _ = queue;
    const { id } = await queue.request({ principal: REMOTE });
    assert.equal(await clientApprovals.find(REMOTE, id), undefined);
    await assert.rejects(clientApprovals.answer(REMOTE, id, { verdict: "approve" }), { code: "POLICY_DENIED" });
    await assert.rejects(clientApprovals.answer(REMOTE, id, { verdict: "reject" }), { code: "POLICY_DENIED" });
    assert.equal((await queue.approvals.find(id))?.state, "pending");
  });

  it("seals state that only the same principal can open again", async () => {
    const { queue, clientApprovals } = await open();
    await using _ = queue;
    const sealed = clientApprovals.close(AGENT, { a: 1 });
    assert.deepEqual(clientApprovals.open(AGENT, sealed), { a: 1 });
    assert.throws(() => clientApprovals.open(OTHER, sealed));
    assert.throws(() => clientApprovals.open(AGENT, "forged"));
  });
});
