/** Who may decide and who sees arguments, with every setting of separated duties. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parsePrincipalId, parseRuleId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import { AGENT, known, toolOf } from "../rules/fixtures/decision-case.ts";
import { createDesk } from "./create-desk.ts";
import { NO_DUTIES } from "./duties.ts";
import type { Duties } from "./duties.ts";
import { OPERATOR, memoryRules, openQueue } from "./fixtures/open-queue.ts";

type Role = NonNullable<Principal["roles"]>[number];

const person = (name: string, ...roles: readonly Role[]): Principal => ({
  id: known(parsePrincipalId(`person:${name}`)),
  kind: "person",
  roles,
  groups: [],
});
const ADA = person("ada", "operator", "reviewer");
const BOB = person("bob", "operator", "reviewer");
const EVE = person("eve", "operator");
const APPROVE = { verdict: "approve" } as const;
/** A rule of the profile, which an allow rule can loosen. */
const RULE = known(parseRuleId("profile:strict"));
const DESTROY = toolOf("shop.drop", "destroy");

async function open(settings: Partial<Duties>) {
  // The agent of these tests belongs to ada, who is the user of this machine.
  const personOf = async (id: string) => (id === AGENT.id || id === OPERATOR.id ? ADA.id : id);
  const duties = { ...NO_DUTIES, personOf, ...settings };
  const queue = await openQueue(undefined, undefined, { duties });
  const { approvals, store } = queue;
  const { rules, written, entries } = memoryRules();
  const desk = createDesk({ approvals, store, rules, hide: (text) => text, duties, findChange: async () => undefined });
  const stateOf = async (id: string) => (await desk.show(id, BOB)).approval.state;
  return { queue, desk, written, entries, stateOf, [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() };
}

test("an agent, a service and a person without the role decide nothing, whatever they claim", async () => {
  await using opened = await open({});
  const { queue, desk, stateOf } = opened;
  const { id } = await queue.request();
  const wrong: readonly Principal[] = [
    AGENT,
    { ...AGENT, roles: ["operator", "reviewer"] },
    { ...ADA, kind: "agent" },
    { ...ADA, kind: "service" },
    person("zoe", "agent"),
    person("zoe"),
  ];
  for (const by of wrong)
    for (const act of [() => desk.decide(id, APPROVE, by), () => desk.revoke(id, by)])
      await assert.rejects(act, { code: "POLICY_DENIED" }, JSON.stringify(by));
  assert.equal(await stateOf(id), "pending");
  assert.equal((await desk.decide(id, APPROVE, ADA)).state, "approved");
});

test("with separated duties another person must decide than the one behind the agent, also for good", async () => {
  await using opened = await open({ separate: true });
  const { queue, desk, stateOf, written, entries } = opened;
  const [first, second] = [
    await queue.request({ rule: RULE }),
    await queue.request({ seq: 2, args: { amount: 6 }, rule: RULE }),
  ];
  for (const scope of [undefined, "session", "always-tool", "always-arguments"] as const) {
    const choice = scope === undefined ? APPROVE : { ...APPROVE, scope };
    await assert.rejects(desk.decide(first.id, choice, ADA), { code: "POLICY_DENIED" }, scope);
  }
  await assert.rejects(desk.revoke(first.id, ADA), { code: "POLICY_DENIED" });
  await assert.rejects(desk.decide(first.id, APPROVE, OPERATOR), { code: "POLICY_DENIED" });
  // No rule was in force meanwhile.
  assert.deepEqual([await stateOf(first.id), written, entries], ["pending", [], []]);
  assert.equal((await desk.decide(first.id, APPROVE, BOB)).state, "approved");
  assert.equal((await desk.decide(second.id, { ...APPROVE, scope: "always-arguments" }, BOB)).state, "approved");
  assert.equal(written.length, 1);
  await using unknown = await open({ separate: true, personOf: async () => undefined });
  const { id } = await unknown.queue.request();
  await assert.rejects(unknown.desk.decide(id, APPROVE, BOB), { code: "POLICY_DENIED" });
});

test("with four eyes two different people approve a call that destroys, and one rejects it", async () => {
  await using opened = await open({ fourEyes: true });
  const { queue, desk, stateOf } = opened;
  const { id } = await queue.request({ tool: DESTROY });
  for (const scope of ["execution", "session", "session-tool", "always-tool"] as const)
    await assert.rejects(desk.decide(id, { ...APPROVE, scope }, BOB), { code: "REQUEST_INVALID" }, scope);
  assert.equal((await desk.decide(id, APPROVE, ADA)).state, "pending");
  await assert.rejects(desk.decide(id, APPROVE, ADA), { code: "REQUEST_CONFLICT" });
  // A form that passes on the answer of the same person is not a second person.
  const form: Principal = { ...person("form", "reviewer"), person: ADA.id };
  await assert.rejects(desk.decide(id, APPROVE, form), { code: "REQUEST_CONFLICT" });
  // Nor is the command line of her machine.
  await assert.rejects(desk.decide(id, APPROVE, OPERATOR), { code: "REQUEST_CONFLICT" });
  assert.equal(await stateOf(id), "pending");
  assert.equal((await desk.decide(id, APPROVE, BOB)).state, "approved");
  const rejected = await queue.request({ seq: 2, tool: DESTROY });
  assert.equal((await desk.decide(rejected.id, { verdict: "reject" }, ADA)).state, "rejected");
  const written = await queue.request({ seq: 3 });
  assert.equal((await desk.decide(written.id, APPROVE, ADA)).state, "approved");
});

test("arguments that only reviewers see are in no list, review, proposed rule or decision of others", async () => {
  await using opened = await open({ showArguments: "reviewers" });
  const { queue, desk } = opened;
  const { id } = await queue.request({ args: { to: "a-private-name" }, rule: RULE });
  const isShown = async (read: () => Promise<unknown>) => JSON.stringify(await read()).includes("a-private-name");
  const reads = (viewer: Principal) => [() => desk.list({}, viewer), () => desk.show(id, viewer)];
  for (const read of reads(EVE)) assert.equal(await isShown(read), false);
  for (const read of reads(BOB)) assert.equal(await isShown(read), true);
  for (const scope of ["always-arguments", "always-tool"] as const)
    await assert.rejects(desk.propose(id, scope, EVE), { code: "POLICY_DENIED" });
  assert.equal(await isShown(() => desk.propose(id, "always-arguments", BOB)), true);
  assert.deepEqual([desk.showsArguments(EVE), desk.showsArguments(BOB)], [false, true]);
  await assert.rejects(desk.decide(id, APPROVE, EVE), { code: "POLICY_DENIED" });
  assert.equal((await desk.decide(id, APPROVE, BOB)).state, "approved");
});
