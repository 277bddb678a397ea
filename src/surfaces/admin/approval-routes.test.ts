/** Approvals over HTTP: in the shapes of the contract, only with the token and from this machine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { findChange } from "../../catalog/index.ts";
import { createDesk } from "../../policy/approvals/create-desk.ts";
import { TOOL, changeTool, memoryRules, openQueue } from "../../policy/approvals/fixtures/open-queue.ts";
import { approvalAnswerSchema, approvalReviewSchema, approvalsSchema, failureSchema } from "./contract.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";
import type { RawRequest } from "./fixtures/start-app.ts";

const headers = SESSION;

async function start(t: TestContext) {
  const queue = await openQueue();
  t.after(() => queue[Symbol.asyncDispose]());
  const { approvals, store } = queue;
  const desk = createDesk({
    approvals,
    store,
    rules: memoryRules().rules,
    hide: (text) => text.replaceAll("hunter2", "[secret]"),
    findChange: (asked) => findChange(store.pins, asked),
  });
  const { send, listener } = await startApp(t, undefined, { approvals: desk });
  const ask = async (path: string, init: RawRequest = {}) => {
    const { status, body } = await send(`/api/approvals${path}`, { headers, ...init });
    return { status, body: JSON.parse(body) as unknown };
  };
  const decide = (id: string, body: unknown, more: RawRequest = {}) =>
    ask(`/${id}`, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...more });
  return { queue, ask, decide, port: listener.port };
}

describe("approvals over HTTP", () => {
  test("the approvals API lists by page and shows approvals whole, without secrets", async (t) => {
    const { queue, ask } = await start(t);
    const first = await queue.request({ args: { key: "hunter2" } });
    queue.clock.at = 2;
    const second = await queue.request({ execution: 2 });
    const shown = { ...first, args: { key: "[secret]" } };
    assert.deepEqual(await ask(""), { status: 200, body: { approvals: [second, shown] } });
    assert.deepEqual((await ask("?limit=1")).body, { approvals: [second] });
    assert.deepEqual((await ask(`?after=${second.id}`)).body, { approvals: [shown] });
    assert.deepEqual((await ask(`?execution=${first.execution}`)).body, { approvals: [shown] });
    const { body } = await ask("?all=true");
    assert.deepEqual(approvalsSchema.parse(body), body);
    const review = await ask(`/${first.id}`);
    assert.deepEqual(review.body, { approval: shown, execution: null, places: [], calls: [] });
    assert.deepEqual(approvalReviewSchema.parse(review.body), review.body);
    assert.equal((await ask(`/ap_${"f".repeat(24)}`)).status, 404);
  });

  test("the approvals API shows a withheld change of the tool", async (t) => {
    const { queue, ask } = await start(t);
    const { id } = await queue.request();
    const change = await changeTool(queue, "shop", TOOL.digest);
    const { body } = await ask(`/${id}`);
    assert.deepEqual(approvalReviewSchema.parse(body), body);
    assert.deepEqual(approvalReviewSchema.parse(body).change, change);
  });

  test("the approvals API records one decision of the operator and revokes it", async (t) => {
    const { queue, ask, decide } = await start(t);
    const asked = await queue.request();
    const said = { verdict: "approve", scope: "execution", note: "fine" };
    const decided = await decide(asked.id, said);
    const approval = {
      ...asked,
      state: "approved",
      scope: "execution",
      note: "fine",
      decidedBy: "operator",
      decidedAt: 1,
    };
    assert.deepEqual(decided, { status: 200, body: { approval } });
    assert.deepEqual(approvalAnswerSchema.parse(decided.body), decided.body);
    assert.deepEqual((await ask("")).body, { approvals: [] });
    assert.equal((await decide(asked.id, { verdict: "reject" })).status, 409);
    const revoked = await decide(asked.id, { verdict: "revoke" });
    assert.deepEqual(revoked.body, { approval: { ...approval, state: "revoked" } });
  });

  test("the approvals API refuses an invalid request and changes nothing", async (t) => {
    const { queue, ask, decide } = await start(t);
    const { id } = await queue.request();
    const bodies = ["", "{", "[]", {}, { verdict: "yes" }, { verdict: "approve", scope: "ever" }];
    for (const body of [...bodies, { verdict: "approve", by: "me" }]) {
      const { status, body: answer } = await decide(id, body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(failureSchema.parse(answer).error.code, "REQUEST_INVALID");
    }
    const queries = ["limit=0", "limit=201", "all=1", "execution=x", "after=x", "other=1"];
    for (const query of queries) assert.equal((await ask(`?${query}`)).status, 400, query);
    for (const query of ["limit=1", "limit=200", "all=false"])
      assert.equal((await ask(`?${query}`)).status, 200, query);
    assert.equal((await queue.approvals.find(id))?.state, "pending");
  });

  test("the approvals API accepts a body of up to 16 KiB, with and without a length", async (t) => {
    const { queue, decide } = await start(t);
    const { id } = await queue.request();
    const note = (bytes: number) =>
      JSON.stringify({ verdict: "nothing", note: "" }).replace('""', `"${"x".repeat(bytes)}"`);
    const room = 16 * 1024 - note(0).length;
    const chunked = { headers: { ...headers, "transfer-encoding": "chunked" } };
    for (const more of [{}, chunked]) {
      assert.equal((await decide(id, note(room), more)).status, 400);
      const refused = await decide(id, note(room + 1), more);
      assert.equal(failureSchema.parse(refused.body).error.code, "LIMIT_SIZE");
    }
  });
});

describe("a decision over HTTP", () => {
  test("a decision over HTTP needs the session and the origin of the page", async (t) => {
    const { queue, decide, port } = await start(t);
    const { id } = await queue.request();
    const yes = { verdict: "approve" };
    const wrong = [
      [401, {}],
      [401, { authorization: "Bearer gbx_x" }],
      [401, { cookie: `glovebox-${port}=${"x".repeat(43)}` }],
      [403, { ...headers, host: "evil.example" }],
      [403, { ...headers, origin: "http://evil.example" }],
      [403, { ...headers, origin: "null" }],
    ] as const;
    for (const [status, sent] of wrong)
      assert.equal((await decide(id, yes, { headers: sent })).status, status, JSON.stringify(sent));
    assert.equal((await queue.approvals.find(id))?.state, "pending");
    const own = { ...headers, origin: `http://127.0.0.1:${port}` };
    assert.equal((await decide(id, yes, { headers: own })).status, 200);
    assert.equal((await queue.approvals.find(id))?.state, "approved");
  });
});
