/** The queue of approvals: requested once, decided once by a person, and remembered only within the scope. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { parseApprovalId } from "../../domain/index.ts";
import type { Approval, CallPlan, Principal } from "../../domain/index.ts";
import { AGENT, known } from "../rules/fixtures/decision-case.ts";
import type { ApprovalQuery } from "./open-approvals.ts";
import {
  EXPIRY_MS,
  OPERATOR,
  PLAIN_SEAL,
  RULE,
  TOOL,
  executionOf,
  openQueue,
  requestOf,
} from "./fixtures/open-queue.ts";
import type { Queue } from "./fixtures/open-queue.ts";
import { MAX_PENDING } from "./open-approvals.ts";
import { PLAN_CHARS, sealArguments } from "./seal-arguments.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-approvals-"));
after(() => rmSync(folder, { recursive: true }));

const NEVER = new AbortController().signal;
const PENDING = {
  execution: executionOf(1),
  seq: 1,
  principal: AGENT.id,
  tool: TOOL.address,
  definition: TOOL.digest,
  effect: "write",
  args: { amount: 5 },
  argsDigest: digestOf({ amount: 5 }),
  rule: RULE,
  reason: "money leaves",
  labels: requestOf().labels,
  createdAt: 1,
  expiresAt: 1 + EXPIRY_MS,
  state: "pending",
} as const;
const PLANNED: Omit<CallPlan["calls"][number], "at"> = {
  tool: TOOL.address,
  effect: "write",
  access: "literal",
  times: "once",
  when: "always",
};
const APPROVED = { state: "approved", scope: "call", decidedBy: "operator", decidedAt: 1 } as const;

const approve = ({ approvals }: Queue, { id }: Approval, scope?: NonNullable<Approval["scope"]>) =>
  approvals.decide(id, { verdict: "approve", ...(scope && { scope }) }, OPERATOR);

describe("Approvals.request", () => {
  it("returns the arguments, seals them in the store, and records them without values", async () => {
    await using queue = await openQueue();
    const asked = await queue.request();
    assert.deepEqual(asked, { id: asked.id, ...PENDING });
    assert.deepEqual(await queue.approvals.find(asked.id), asked);
    assert.deepEqual(await queue.approvals.list({}), [asked]);
    const said = { execution: PENDING.execution, seq: 1, principal: "agent", tool: "shop.pay", rule: "rules[0]" };
    const digests = { definition: TOOL.digest, arguments: PENDING.argsDigest };
    const detail = { ...said, ...digests, effect: "write", reason: "money leaves", expiresAt: PENDING.expiresAt };
    const requested = { actor: "agent", action: "approval.requested", subject: asked.id, detail };
    assert.deepEqual(await queue.records(), [requested]);
  });

  it("returns the same approval for the same call and another one for another call", async () => {
    await using queue = await openQueue();
    const asked = await queue.request();
    assert.deepEqual(await queue.request(), asked);
    assert.notEqual((await queue.request({ seq: 2 })).id, asked.id);
    assert.deepEqual(await Promise.all([queue.request({ seq: 3 }), queue.request({ seq: 3 })]).then(distinct), 1);
  });

  it("keeps the plan of the program unless it is too long", async () => {
    await using queue = await openQueue();
    const place = { line: 1, column: 1 };
    const planOf = (places: number): CallPlan => ({
      exact: true,
      calls: [{ ...PLANNED, at: Array.from({ length: places }, () => place) }],
    });
    const asked = await queue.approvals.request({ ...requestOf(), plan: planOf(2) });
    assert.deepEqual((await queue.approvals.find(asked.id))?.plan, planOf(2));
    const long = await queue.approvals.request({ ...requestOf({ seq: 2 }), plan: planOf(PLAN_CHARS / 10) });
    assert.deepEqual([long.plan, long.args], [undefined, { amount: 5 }]);
  });

  it("rejects with LIMIT_BUSY when too many of one execution are pending, and accepts those of another", async () => {
    await using queue = await openQueue();
    const { perExecution } = MAX_PENDING;
    for (let seq = 1; seq <= perExecution; seq += 1) await queue.request({ seq });
    await assert.rejects(queue.request({ seq: perExecution + 1 }), {
      code: "LIMIT_BUSY",
      message: `${executionOf(1)} has 20 pending approvals, which is the maximum`,
    });
    assert.equal((await queue.request({ execution: 2, seq: 1 })).state, "pending");
    await approve(queue, await queue.request({ seq: 1 }));
    assert.equal((await queue.request({ seq: perExecution + 1 })).state, "pending");
  });

  for (const session of ["one", undefined])
    it(`rejects with LIMIT_BUSY when too many of ${session === undefined ? "a principal without sessions" : "one session"} are pending, and accepts those of another session and principal`, async () => {
      await using queue = await openQueue();
      const part = session === undefined ? {} : { session };
      const { perSession } = MAX_PENDING;
      for (let execution = 1; execution <= perSession; execution += 1) await queue.request({ execution, ...part });
      await assert.rejects(queue.request({ execution: perSession + 1, ...part }), {
        code: "LIMIT_BUSY",
        message: "The session of agent has 50 pending approvals, which is the maximum",
      });
      assert.equal((await queue.request({ execution: 998, session: "another" })).state, "pending");
      assert.equal((await queue.request({ execution: 999, principal: OPERATOR, ...part })).state, "pending");
      await approve(queue, await queue.request({ execution: 1, ...part }));
      assert.equal((await queue.request({ execution: perSession + 1, ...part })).state, "pending");
    });

  it("rejects with LIMIT_BUSY when too many of one principal are pending, and accepts with one fewer", async () => {
    await using queue = await openQueue();
    const { perPrincipal, perSession } = MAX_PENDING;
    const request = (n: number) => queue.request({ execution: n, session: `session ${Math.floor(n / perSession)}` });
    for (let n = 0; n < perPrincipal; n += 1) await request(n);
    const list = async (query: ApprovalQuery) => (await queue.approvals.list(query)).length;
    assert.deepEqual([await list({}), await list({ limit: 1 }), await list({ limit: 201 })], [50, 1, 200]);
    await assert.rejects(request(perPrincipal), {
      code: "LIMIT_BUSY",
      message: "agent has 200 pending approvals, which is the maximum",
    });
    await approve(queue, await request(0));
    assert.equal((await request(perPrincipal)).state, "pending");
  });

  it("lists all approvals of one execution by default", async () => {
    await using queue = await openQueue();
    for (let seq = 1; seq <= 60; seq += 1) await approve(queue, await queue.request({ seq, args: { amount: seq } }));
    assert.equal((await queue.approvals.list({ execution: executionOf(1) })).length, 60);
  });

  it("refuses to show arguments of another approval or with another digest", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    const row = known(await queue.store.approvals.find(id));
    const [moved, forged] = ["e", "f"].map((digit) => known(parseApprovalId(`ap_${digit.repeat(24)}`)));
    const sealedArgs = sealArguments(PLAIN_SEAL, known(forged), { args: { amount: 6 } });
    for (const other of [
      { ...row, id: known(moved), seq: 2 },
      { ...row, id: known(forged), seq: 3, sealedArgs },
    ]) {
      await queue.store.approvals.claim(other, () => undefined, { ...MAX_PENDING, bytes: 1e6 });
      await assert.rejects(queue.approvals.find(other.id), { code: "STORE_UNAVAILABLE" });
      await assert.rejects(approve(queue, { ...PENDING, id: other.id }), { code: "STORE_UNAVAILABLE" });
    }
    assert.equal((await approve(queue, { ...PENDING, id })).state, "approved");
  });
});

describe("Approvals.onRequested", () => {
  it("reports new approvals of every process once, and no decided ones", async () => {
    const path = join(folder, "requested.db");
    await using here = await openQueue(path);
    await using other = await openQueue(path);
    const seen: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = here.approvals.onRequested(({ id, state }) => {
      seen.push(`${state} ${id}`);
      if (seen.length === 2) resolve();
    });
    const first = await here.request();
    const second = await other.request({ seq: 2 });
    await promise;
    stop();
    assert.deepEqual(seen, [`pending ${first.id}`, `pending ${second.id}`]);
  });
});

describe("Approvals.onRequestedHere", () => {
  it("reports a new approval in the process that requested it, and one that is known already nowhere", async () => {
    const path = join(folder, "requested-here.db");
    await using here = await openQueue(path);
    await using other = await openQueue(path, here.clock);
    const seen: string[] = [];
    const stop = here.approvals.onRequestedHere(({ id }) => void seen.push(`here ${id}`));
    other.approvals.onRequestedHere(({ id }) => void seen.push(`other ${id}`));
    const first = await here.request();
    const again = await other.request();
    const second = await other.request({ seq: 2 });
    stop();
    await here.request({ seq: 3 });
    assert.equal(again.id, first.id);
    assert.deepEqual(seen, [`here ${first.id}`, `other ${second.id}`]);
  });
});

describe("Approvals.decide", () => {
  for (const kind of ["agent", "service"] as const)
    it(`refuses a principal of the kind ${kind} that has the id, and accepts an operator`, async () => {
      await using queue = await openQueue();
      const { id } = await queue.request();
      const by: Principal = { ...AGENT, kind };
      await assert.rejects(queue.approvals.decide(id, { verdict: "approve" }, by), {
        code: "POLICY_DENIED",
        message: `agent (kind: ${kind}) cannot decide an approval`,
      });
      await assert.rejects(queue.approvals.revoke(id, by), { code: "POLICY_DENIED" });
      assert.equal((await queue.approvals.find(id))?.state, "pending");
      assert.deepEqual(await queue.approvals.decide(id, { verdict: "approve" }, OPERATOR), {
        id,
        ...PENDING,
        ...APPROVED,
      });
    });

  it("records who decided, the scope and the note, never the arguments", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    const choice = { verdict: "reject", scope: "execution", note: " no\u202e \u001b[31mmoney " } as const;
    const rejected = await queue.approvals.decide(id, choice, OPERATOR);
    const { state, scope, note, decidedBy } = rejected;
    assert.deepEqual([state, scope, note, decidedBy], ["rejected", "execution", "no money", "operator"]);
    const [, decided] = await queue.records();
    const said = { execution: PENDING.execution, seq: 1, principal: "agent", tool: "shop.pay", rule: "rules[0]" };
    const digests = { definition: TOOL.digest, arguments: PENDING.argsDigest };
    const detail = { ...said, ...digests, verdict: "rejected", scope: "execution", note: "no money" };
    assert.deepEqual(decided, { actor: "operator", action: "approval.decided", subject: id, detail });
  });

  it("rejects a second decision with the first one and its author", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    await approve(queue, { ...PENDING, id });
    await assert.rejects(queue.approvals.decide(id, { verdict: "reject" }, OPERATOR), {
      code: "REQUEST_CONFLICT",
      message: `${id} was approved by operator at 1970-01-01T00:00:00.001Z`,
    });
    const nowhere = known(parseApprovalId(`ap_${"e".repeat(24)}`));
    await assert.rejects(approve(queue, { ...PENDING, id: nowhere }), { code: "REQUEST_NOT_FOUND" });
  });

  it("accepts one of many concurrent decisions of several processes", async () => {
    const path = join(folder, "race.db");
    await using one = await openQueue(path);
    await using two = await openQueue(path, one.clock);
    const asked = await one.request();
    const queues = [one, two, one, two];
    const all = await Promise.allSettled(queues.map((queue) => approve(queue, asked)));
    assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
    for (const outcome of all) if (outcome.status === "rejected") assert.equal(outcome.reason.code, "REQUEST_CONFLICT");
    const actions = (await one.records()).map(({ action }) => action);
    const count = (action: string) => actions.filter((one) => one === action).length;
    assert.equal(count("approval.decided") - count("approval.overtaken"), 1);
  });

  it("resolves waiting calls in this and another process, and not those that were aborted", async () => {
    const path = join(folder, "heard.db");
    await using one = await openQueue(path);
    await using two = await openQueue(path, one.clock);
    const asked = await one.request();
    const heard: Approval[] = [];
    two.approvals.onDecided((approval) => void heard.push(approval));
    const stop = new AbortController();
    const given = one.approvals.whenDecided(asked.id, stop.signal);
    const waiting = [one, two].map(({ approvals }) => approvals.whenDecided(asked.id, NEVER));
    stop.abort();
    await assert.rejects(given, { name: "AbortError" });
    const decided = await approve(one, asked);
    assert.deepEqual(await Promise.all(waiting), [decided, decided]);
    assert.deepEqual(await two.approvals.whenDecided(asked.id, NEVER), decided);
    assert.deepEqual(heard, [decided]);
  });

  it("rejects waiting calls when the queue is closed", async () => {
    const queue = await openQueue();
    const { id } = await queue.request();
    const waiting = assert.rejects(queue.approvals.whenDecided(id, NEVER), { code: "REQUEST_CANCELLED" });
    await queue.approvals.whenDecided((await approve(queue, await queue.request({ seq: 2 }))).id, NEVER);
    await queue[Symbol.asyncDispose]();
    await waiting;
  });
});

function distinct(approvals: readonly Approval[]): number {
  return new Set(approvals.map(({ id }) => id)).size;
}
