/** Which other calls a decision covers, for how long, and how it is revoked. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import * as fc from "fast-check";

import type { LedgerEntry } from "../../ledger/index.ts";
import { parseApprovalId, parseDigest, parsePrincipalId, parseRuleId } from "../../domain/index.ts";
import type { Approval, Effect } from "../../domain/index.ts";
import type { ApprovalCall, ApprovalHead } from "../../store/index.ts";
import { AGENT, known, toolOf } from "../rules/fixtures/decision-case.ts";
import { SESSIONLESS_MS, chooseFor } from "./covers.ts";
import { EXPIRY_MS, OPERATOR, executionOf, openQueue } from "./fixtures/open-queue.ts";
import type { RequestParts, Queue } from "./fixtures/open-queue.ts";
import { KEEP_MS } from "./watch-approvals.ts";

const OTHER_TOOL = toolOf("shop.refund", "write");
const CHANGED = toolOf("shop.pay", "write", { digest: known(parseDigest(`sha256:${"1".repeat(64)}`)) });
const GRACE = { ...AGENT, id: known(parsePrincipalId("grace")) };
const OTHER_RULE = known(parseRuleId("rules[1]"));

async function decide(
  queue: Queue,
  asked: RequestParts,
  scope: NonNullable<Approval["scope"]>,
  verdict: "approve" | "reject" = "approve",
) {
  const { id } = await queue.request(asked);
  return queue.approvals.decide(id, { verdict, scope }, OPERATOR);
}

/** Returns which calls the decision covers without a new request. */
async function covered(queue: Queue, { id }: Approval, calls: Readonly<Record<string, RequestParts>>) {
  const names = [];
  for (const [name, asked] of Object.entries(calls)) if ((await queue.request(asked)).id === id) names.push(name);
  return names;
}

const CALLS = {
  own: { session: "s" },
  next: { seq: 2, session: "s" },
  "other arguments": { seq: 3, args: { amount: 6 }, session: "s" },
  "other tool": { seq: 4, tool: OTHER_TOOL, session: "s" },
  "changed tool": { seq: 5, tool: CHANGED, session: "s" },
  "other rule": { seq: 6, rule: OTHER_RULE, session: "s" },
  "other execution": { execution: 2, session: "s" },
  "other arguments elsewhere": { execution: 2, seq: 2, args: { amount: 6 }, session: "s" },
  "other session": { execution: 3, session: "t" },
  "no session": { execution: 4 },
  "other principal": { execution: 5, session: "s", principal: GRACE },
  "changed tool elsewhere": { execution: 6, tool: CHANGED, session: "s" },
  "other rule elsewhere": { execution: 7, rule: OTHER_RULE, session: "s" },
} as const;

describe("the scope of a decision", () => {
  for (const [scope, reached] of [
    ["call", ["own"]],
    ["execution", ["own", "next", "other arguments"]],
    ["session", ["own", "next", "other execution"]],
    ["session-tool", ["own", "next", "other arguments", "other execution", "other arguments elsewhere"]],
  ] as const)
    for (const verdict of ["approve", "reject"] as const)
      it(`${scope} (${verdict}) covers ${reached.join(", ")} and no other call`, async () => {
        await using queue = await openQueue();
        const decided = await decide(queue, CALLS.own, scope, verdict);
        assert.deepEqual(await covered(queue, decided, CALLS), reached);
      });

  it("execution decides pending approvals that it covers and leaves the others pending", async () => {
    await using queue = await openQueue();
    const first = await queue.request();
    const waiting = [await queue.request({ seq: 2, args: { amount: 6 } }), await queue.request({ execution: 2 })];
    const heard = queue.approvals.whenDecided(known(waiting[0]).id, new AbortController().signal);
    await queue.approvals.decide(first.id, { verdict: "approve", scope: "execution" }, OPERATOR);
    assert.equal((await heard).decidedBy, "operator");
    const states = await Promise.all(waiting.map(({ id }) => queue.approvals.find(id)));
    assert.deepEqual(
      states.map((approval) => approval?.state),
      ["approved", "pending"],
    );
    const decisions = (await queue.records()).filter(({ action }) => action === "approval.decided");
    assert.deepEqual(
      decisions.map(({ subject }) => subject),
      [first.id, waiting[0]?.id],
    );
  });

  it("records every use of a remembered decision", async () => {
    await using queue = await openQueue();
    const { id } = await decide(queue, {}, "execution");
    await queue.request({ seq: 2 });
    const last = (await queue.records()).at(-1);
    assert.equal(last?.action, "approval.used");
    assert.equal(last.subject, id);
  });
});

describe("chooseFor", () => {
  const few = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
  const call: fc.Arbitrary<ApprovalCall> = fc.record({
    execution: few(executionOf(1), executionOf(2)),
    seq: few(1, 2),
    principal: few(AGENT.id, GRACE.id),
    session: few("s", "t"),
    tool: few(CHANGED.address, OTHER_TOOL.address),
    definition: few(CHANGED.digest, OTHER_TOOL.digest),
    effect: few<Effect>("read", "write"),
    argsDigest: few(CHANGED.digest, OTHER_TOOL.digest),
    rule: few(OTHER_RULE, known(parseRuleId("rules[2]"))),
  });
  const head: fc.Arbitrary<ApprovalHead> = fc
    .tuple(
      call,
      fc.record({
        state: few<Approval["state"]>("pending", "approved", "rejected", "expired", "revoked"),
        scope: few<NonNullable<Approval["scope"]>>("call", "execution", "session"),
        expiresAt: few(9, 10, 11),
      }),
    )
    .map(([asked, settled]) => ({
      ...asked,
      ...settled,
      id: known(parseApprovalId(`ap_${"0".repeat(24)}`)),
      reason: "",
      labels: [],
      createdAt: 1,
      decidedAt: 2,
    }));

  it("ignores approvals of another principal, tool, definition, effect or rule, expired ones and narrower scopes", () => {
    fc.assert(
      fc.property(call, fc.array(head, { maxLength: 6 }), (asked, related) => {
        const chosen = chooseFor(asked, related, 10);
        if (!chosen) return;
        for (const field of ["principal", "tool", "definition", "effect", "rule"] as const)
          assert.equal(chosen[field], asked[field]);
        const isSameArgs = chosen.argsDigest === asked.argsDigest;
        if (chosen.execution === asked.execution && chosen.seq === asked.seq && isSameArgs) return;
        assert.ok(chosen.state === "approved" || chosen.state === "rejected");
        assert.ok(chosen.expiresAt > 10 && chosen.scope !== "call");
        if (chosen.scope === "execution") assert.equal(chosen.execution, asked.execution);
        else assert.ok(isSameArgs && chosen.session === asked.session);
        const isRejected = ({ state, scope, ...other }: ApprovalHead) =>
          state === "rejected" && scope === "session" && other.session === asked.session && other.expiresAt > 10;
        const barred = related.filter((other) => isRejected(other) && other.argsDigest === asked.argsDigest);
        const fields = ["principal", "tool", "definition", "effect", "rule"] as const;
        if (barred.some((other) => fields.every((field) => other[field] === asked[field])))
          assert.equal(chosen.state, "rejected");
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the expiry of an approval", () => {
  it("accepts a decision just before the expiry, refuses it at that time, and records the expiry", async () => {
    await using queue = await openQueue();
    const [first, second] = [await queue.request(), await queue.request({ seq: 2 })];
    queue.clock.at = EXPIRY_MS;
    assert.equal((await queue.approvals.decide(first.id, { verdict: "approve" }, OPERATOR)).state, "approved");
    const settled = queue.approvals.whenDecided(second.id, new AbortController().signal);
    queue.clock.at = EXPIRY_MS + 1;
    await assert.rejects(queue.approvals.decide(second.id, { verdict: "approve" }, OPERATOR), {
      code: "REQUEST_CONFLICT",
      message: `${second.id} expired at 1970-01-01T00:00:01.001Z`,
    });
    assert.equal((await settled).state, "expired");
    const isExpiry = ({ action }: LedgerEntry) => action === "approval.expired";
    while (!(await queue.records()).some(isExpiry)) await sleep(5);
    const expiries = (await queue.records()).filter(isExpiry);
    assert.deepEqual(
      expiries.map(({ actor, subject }) => [actor, subject]),
      [["gateway", second.id]],
    );
  });

  it("ends a remembered decision at the expiry of its approval", async () => {
    await using queue = await openQueue();
    const decided = await decide(queue, { session: "s" }, "session");
    queue.clock.at = EXPIRY_MS;
    assert.deepEqual(await covered(queue, decided, { at: { seq: 2, session: "s" } }), ["at"]);
    queue.clock.at = EXPIRY_MS + 1;
    assert.deepEqual(await covered(queue, decided, { own: { session: "s" }, at: { seq: 3, session: "s" } }), ["own"]);
  });

  it("ends a session decision after eight hours if the client has no sessions", async () => {
    const remembered = { state: "approved", scope: "session", expiresAt: SESSIONLESS_MS * 9 } as const;
    await using queue = await openQueue();
    const { args: _, ...asked } = { ...(await queue.request()), ...remembered, decidedAt: 0 };
    const next = { ...asked, seq: 2 };
    assert.equal(chooseFor(next, [asked], SESSIONLESS_MS - 1), asked);
    assert.equal(chooseFor(next, [asked], SESSIONLESS_MS), undefined);
    const inSession = { ...asked, session: "s" };
    assert.equal(chooseFor({ ...next, session: "s" }, [inSession], SESSIONLESS_MS), inSession);
  });

  it("removes decided approvals a month after their expiry", async () => {
    await using queue = await openQueue();
    const old = await decide(queue, {}, "call");
    const newest = await decide(queue, { seq: 2 }, "call");
    queue.clock.at = old.expiresAt + KEEP_MS + 1;
    while (await queue.approvals.find(old.id)) await sleep(5);
    assert.deepEqual(await queue.approvals.find(newest.id), newest);
  });
});

describe("Approvals.revoke", () => {
  it("ends a remembered decision, so that the next call needs approval", async () => {
    await using queue = await openQueue();
    const decided = await decide(queue, {}, "execution");
    assert.deepEqual(await covered(queue, decided, { before: { seq: 2 } }), ["before"]);
    const revoked = await queue.approvals.revoke(decided.id, OPERATOR);
    assert.deepEqual(revoked, { ...decided, state: "revoked" });
    const next = await queue.request({ seq: 3 });
    assert.equal(next.state, "pending");
    await assert.rejects(queue.approvals.revoke(decided.id, OPERATOR), { code: "REQUEST_CONFLICT" });
    const entry = (await queue.records()).find(({ action }) => action === "approval.revoked");
    assert.deepEqual([entry?.actor, entry?.subject], ["operator", decided.id]);
  });

  it("withdraws a pending approval, and `withdraw` all of an execution that has ended", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    assert.equal((await queue.approvals.revoke(id, OPERATOR)).state, "revoked");
    const [second, elsewhere] = [await queue.request({ seq: 2 }), await queue.request({ execution: 2 })];
    await queue.approvals.withdraw(executionOf(1));
    const found = await Promise.all([second, elsewhere].map((asked) => queue.approvals.find(asked.id)));
    assert.deepEqual(
      found.map((approval) => [approval?.state, approval?.decidedBy]),
      [
        ["revoked", "gateway"],
        ["pending", undefined],
      ],
    );
    const [last] = (await queue.records()).slice(-1);
    assert.deepEqual([last?.actor, last?.action, last?.subject], ["gateway", "approval.revoked", second.id]);
  });
});
