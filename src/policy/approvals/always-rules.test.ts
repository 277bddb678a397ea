/** Decisions that last: what rule they write, when they cannot, and that a failure leaves the approval waiting. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseRules } from "../../config/index.ts";
import { parseRuleId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { AGENT, known, policyOf, toolOf } from "../rules/fixtures/decision-case.ts";
import { compilePolicy } from "../rules/compile-policy.ts";
import { decide } from "../rules/decide.ts";
import { createDesk } from "./create-desk.ts";
import { OPERATOR, executionOf, memoryRules, openQueue, requestOf } from "./fixtures/open-queue.ts";
import { MAX_RULE_ARGUMENTS } from "./always-rules.ts";

const PROFILE = known(parseRuleId("profile:strict"));

async function openDesk(args: JsonObject = { amount: 5 }, rule = PROFILE) {
  const queue = await openQueue(":memory:", { at: 1 }, { expiryMs: 1e9 });
  const memory = memoryRules();
  const { approvals, store } = queue;
  const desk = createDesk({
    approvals,
    store,
    rules: memory.rules,
    hide: (text) => text,
    findChange: async () => undefined,
  });
  const request = requestOf({ args });
  const { id } = await approvals.request({ ...request, decision: { reason: "money leaves", rule } });
  const stateOf = async () => (await approvals.find(id))?.state;
  return { queue, desk, id, stateOf, ...memory };
}

/** A desk on the same queue and rules; another operator decides after the rule was written. */
function openOvertakenDesk({ queue, rules }: Awaited<ReturnType<typeof openDesk>>, verdict: "approve" | "reject") {
  const { approvals, store } = queue;
  return createDesk({
    approvals: {
      list: (query) => approvals.list(query),
      find: (asked) => approvals.find(asked),
      revoke: (asked, by) => approvals.revoke(asked, by),
      checkDecider: (asked, by) => approvals.checkDecider(asked, by),
      decide: async (asked, choice, by) => {
        await approvals.decide(asked, { verdict }, by);
        return approvals.decide(asked, choice, by);
      },
    },
    store,
    rules,
    hide: (text) => text,
    findChange: async () => undefined,
  });
}

/** What the written rules decide about a call of the tool, under the strict profile. */
function decideBy(written: readonly JsonObject[], args: Json, address = "shop.pay") {
  const rules = parseRules(JSON.stringify({ rules: written }), "rules.json", new Set());
  const tool = toolOf(address, "write");
  const call = { execution: executionOf(1), seq: 1, principal: AGENT.id, address: tool.address, args };
  return decide(compilePolicy(policyOf({ rules, profile: "strict" })), { call, tool, principal: AGENT }).kind;
}

describe("a decision that lasts", () => {
  it("writes a rule for the tool and principal, and approves the call", async () => {
    const { queue, desk, id, stateOf, written, entries } = await openDesk();
    await using _ = queue;
    const { rule, file } = await desk.propose(id, "always-tool", OPERATOR);
    assert.deepEqual([file, written], ["/state/rules.json", []]);
    const approval = await desk.decide(id, { verdict: "approve", scope: "always-tool" }, OPERATOR);
    assert.deepEqual([approval.state, approval.scope, await stateOf()], ["approved", "call", "approved"]);
    assert.deepEqual(written, [rule]);
    assert.deepEqual(rule.principals, [AGENT.id]);
    assert.deepEqual(
      entries.map(({ action, subject }) => [action, subject]),
      [["policy.allowed", rule.id]],
    );
    assert.deepEqual([decideBy(written, { amount: 6 }), decideBy(written, {}, "shop.drop")], ["allow", "ask"]);
    assert.equal(decideBy([], { amount: 6 }), "ask");
  });
  it("writes a rule for exactly these arguments", async () => {
    const { queue, desk, id, written } = await openDesk({ amount: 5, to: ["a", { b: null }] });
    await using _ = queue;
    await desk.decide(id, { verdict: "approve", scope: "always-arguments" }, OPERATOR);
    assert.equal(decideBy(written, { to: ["a", { b: null }], amount: 5 }), "allow");
    for (const args of [
      { amount: 5 },
      { amount: 6, to: ["a", { b: null }] },
      { amount: 5, to: ["a", { b: null }], x: 1 },
    ])
      assert.equal(decideBy(written, args), "ask");
  });
  it("is refused where a rule of the operator or the data-flow guard asked, and names it", async () => {
    for (const name of ["house", "flow:private+untrusted>external"]) {
      const { queue, desk, id, stateOf, written } = await openDesk({}, known(parseRuleId(name)));
      await using _ = queue;
      const message = `${name} asks about shop.pay, and an allow rule cannot loosen it`;
      for (const act of [
        () => desk.propose(id, "always-tool", OPERATOR),
        () => desk.decide(id, { verdict: "approve", scope: "always-tool" }, OPERATOR),
      ])
        await assert.rejects(act, { code: "REQUEST_CONFLICT", message });
      assert.deepEqual([await stateOf(), written], ["pending", []]);
    }
  });
  it("is refused for arguments that are too long or contain a secret, and not just below", async () => {
    const fit = { text: "x".repeat(MAX_RULE_ARGUMENTS - '{"text":""}'.length) };
    for (const [args, isFine] of [
      [fit, true],
      [{ text: `${fit.text}x` }, false],
      [{ text: "s3cret" }, false],
      [{ text: "secret" }, true],
    ] as const) {
      const { queue, desk, id } = await openDesk(args);
      await using _ = queue;
      const proposed = desk.propose(id, "always-arguments", OPERATOR);
      if (isFine) await proposed;
      else await assert.rejects(proposed, { code: "REQUEST_CONFLICT" });
    }
  });
  for (const [scope, covered] of [
    ["always-tool", ["other arguments", "the same arguments"]],
    ["always-arguments", ["the same arguments"]],
  ] as const)
    it(`of the scope ${scope} also approves the waiting calls that its rule covers`, async () => {
      const { queue, desk, id } = await openDesk();
      await using _ = queue;
      const ask = async (seq: number, parts: Parameters<typeof requestOf>[0], rule = PROFILE) => {
        const request = { ...requestOf({ execution: 2, seq, ...parts }), decision: { reason: "money leaves", rule } };
        return (await queue.approvals.request(request)).id;
      };
      const waiting = {
        "other arguments": await ask(1, { args: { amount: 6 } }),
        "the same arguments": await ask(2, { args: { amount: 5 } }),
        "another rule": await ask(3, { args: { amount: 5 } }, known(parseRuleId("house"))),
        "another principal": await ask(4, { args: { amount: 5 }, principal: OPERATOR }),
      };
      await desk.decide(id, { verdict: "approve", scope }, OPERATOR);
      const states = await Promise.all(Object.values(waiting).map((one) => queue.approvals.find(one)));
      const approved = Object.keys(waiting).filter((_name, at) => states[at]?.state === "approved");
      assert.deepEqual(approved, covered);
    });
  it("leaves the approval waiting and records the failure when the file cannot be written", async () => {
    const { queue, desk, id, stateOf, entries, state } = await openDesk();
    await using _ = queue;
    state.fails = true;
    const always = { verdict: "approve", scope: "always-tool" } as const;
    await assert.rejects(desk.decide(id, always, OPERATOR), { code: "CONFIG_INVALID", message: /cannot be written/ });
    assert.equal(await stateOf(), "pending");
    assert.deepEqual(
      entries.map(({ action }) => action),
      ["policy.allowed", "policy.failed"],
    );
    state.fails = false;
    await desk.decide(id, always, OPERATOR);
    assert.equal(await stateOf(), "approved");
  });
  it("writes nothing for an approval that was decided, a rejection, or a principal of another kind than operator", async () => {
    const { queue, desk, id, written } = await openDesk();
    await using _ = queue;
    const always = { verdict: "approve", scope: "always-tool" } as const;
    await assert.rejects(desk.decide(id, { ...always, verdict: "reject" }, OPERATOR), { code: "REQUEST_INVALID" });
    await assert.rejects(desk.decide(id, always, AGENT), { code: "POLICY_DENIED" });
    await desk.decide(id, { verdict: "reject" }, OPERATOR);
    await assert.rejects(desk.decide(id, always, OPERATOR), { code: "REQUEST_CONFLICT" });
    assert.deepEqual(written, []);
  });
  const ALWAYS = { verdict: "approve", scope: "always-tool" } as const;
  it("takes the rule back when a rejection was faster", async () => {
    const place = await openDesk();
    await using _ = place.queue;
    const decided = openOvertakenDesk(place, "reject").decide(place.id, ALWAYS, OPERATOR);
    await assert.rejects(decided, { code: "REQUEST_CONFLICT" });
    assert.deepEqual(place.written, []);
    assert.deepEqual(
      place.entries.map(({ action }) => action),
      ["policy.allowed", "policy.revoked"],
    );
  });
  it("leaves the rule of an earlier decision when a rejection was faster", async () => {
    const place = await openDesk();
    await using _ = place.queue;
    const { rule } = await place.desk.propose(place.id, "always-tool", OPERATOR);
    place.written.push(rule);
    const decided = openOvertakenDesk(place, "reject").decide(place.id, ALWAYS, OPERATOR);
    await assert.rejects(decided, { code: "REQUEST_CONFLICT" });
    assert.deepEqual(place.written, [rule]);
  });
  it("stands when another approval was faster, so that two operators do not undo each other", async () => {
    const place = await openDesk();
    await using _ = place.queue;
    const approval = await openOvertakenDesk(place, "approve").decide(place.id, ALWAYS, OPERATOR);
    assert.deepEqual([approval.state, place.written.length], ["approved", 1]);
  });
});

describe("rules that decisions made", () => {
  it("are listed and revoked; other rules of the file are neither", async () => {
    const { queue, desk, id, rules, written } = await openDesk();
    await using _ = queue;
    const others = [
      { id: "mine", decision: "allow" },
      { id: "always-deny", decision: "deny" },
    ];
    written.push(...others);
    await desk.decide(id, { verdict: "approve", scope: "always-tool" }, OPERATOR);
    const [made] = await rules.list();
    const ruleId = typeof made?.["id"] === "string" ? made["id"] : assert.fail();
    assert.equal((await rules.list()).length, 1);
    for (const other of others) await assert.rejects(rules.revoke(other.id, OPERATOR), { code: "REQUEST_NOT_FOUND" });
    await assert.rejects(rules.revoke(ruleId, AGENT), { code: "POLICY_DENIED" });
    await rules.revoke(ruleId, OPERATOR);
    assert.deepEqual([await rules.list(), written], [[], others]);
  });
});
