/** Waiting, resuming and replaying inside a skill, as in a program. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";

import type { ApprovalId, ExecutionResult, ExecutionView, Json } from "../../../src/domain/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { createHostPowers } from "../../../src/host-powers.ts";
import { replayRecording } from "../../../src/open-gateway.ts";
import { openOperatorRecords } from "../../../src/open-records.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const ASKS = { policy: { rules: [{ id: "ask", decision: "ask", tools: ["shop.pay"] }] }, approvals: { graceMs: 0 } };
const PAYS = {
  tools: ["shop.list", "shop.pay"],
  run: "const { name } = await shop.list({}); const paid = await shop.pay({ for: name }); return [name, paid.args.for]",
};

async function open(context: TestContext, config: object = ASKS) {
  const world = await openSkillGateway(context, config);
  const { gateway } = world;
  const decide = async (id: ApprovalId | undefined, verdict: "approve" | "reject" = "approve"): Promise<void> => {
    assert.ok(id !== undefined);
    await gateway.approvals.decide(id, { verdict }, OPERATOR);
  };
  const view = ({ execution }: ExecutionResult) => gateway.view({ principal: gateway.agent, execution });
  /** Decides what it waits for, and returns how it continued. */
  const resume = async (paused: ExecutionResult, verdict: "approve" | "reject" = "approve") => {
    assert.equal(paused.state, "paused", paused.error?.message);
    for (const id of paused.approvals ?? []) await decide(id, verdict);
    await gateway.resumeNow(paused.execution);
    return view(paused);
  };
  const valueOf = ({ state, value, error }: ExecutionView): Json =>
    state === "completed" ? (value ?? null) : `${state} ${error?.code ?? ""}`;
  return { ...world, decide, resume, view, valueOf };
}

describe("an approval inside a skill", () => {
  it("suspends the program, and the skill continues where it was", async (context) => {
    const { approve, execute, resume, valueOf, calls } = await open(context);
    await approve("pays", PAYS);
    const paused = await execute(
      "const first = await shop.list({ n: 1 }); return [first.args.n, await skills.pays({})]",
    );
    assert.deepEqual(calls, ['list {"n":1}', "list {}"]);
    assert.match(paused.questions?.[0]?.reason ?? "", /\(called by skills\.pays\)$/);
    const ended = await resume(paused);
    assert.deepEqual(valueOf(ended), [1, ["list", "list"]]);
    assert.deepEqual(calls, ['list {"n":1}', "list {}", 'pay {"for":"list"}']);
    assert.deepEqual(
      ended.calls.map(({ tool, under, outcome }) => [tool, under, outcome]),
      [
        ["shop.list", undefined, "ok"],
        ["skills.pays", undefined, "ok"],
        ["shop.list", 2, "ok"],
        ["shop.pay", 2, "ok"],
      ],
    );
  });
  it("can be rejected, and the skill can catch that", async (context) => {
    const { approve, execute, resume, valueOf, calls } = await open(context);
    await approve("pays", PAYS);
    await approve("careful", { ...PAYS, run: `try { ${PAYS.run} } catch (e) { return e.code }` });
    const rejected = async (name: string) =>
      valueOf(await resume(await execute(`return await skills.${name}({})`), "reject"));
    assert.equal(await rejected("pays"), "failed POLICY_APPROVAL_REJECTED");
    assert.equal(await rejected("careful"), "POLICY_APPROVAL_REJECTED");
    assert.deepEqual(calls, ["list {}", "list {}"]);
  });
  it("works several levels deep, one after another, and beside another skill that waits for its turn", async (context) => {
    const { approve, execute, resume, valueOf, calls } = await open(context);
    const pay = (n: number): string => `await shop.pay({ n: ${n} })`;
    await approve("inner", { tools: ["shop.pay"], run: `${pay(1)}; return input.of` });
    await approve("outer", {
      tools: ["skills.inner", "shop.list", "shop.pay"],
      run: `const a = await skills.inner({ of: "a" }); await shop.list({}); ${pay(2)}; return [a, await skills.inner({ of: "b" })]`,
    });
    let result = await execute('return await Promise.all([skills.outer({}), skills.inner({ of: "c" })])');
    let rounds = 0;
    for (; result.state === "paused"; rounds += 1) result = { ...result, ...(await resume(result)) } as ExecutionResult;
    assert.deepEqual(valueOf(result), [["a", "b"], "c"]);
    assert.deepEqual([...calls].toSorted(), ["list {}", 'pay {"n":1}', 'pay {"n":1}', 'pay {"n":1}', 'pay {"n":2}']);
    assert.ok(rounds >= 3, String(rounds));
    const seqs = result.calls.map(({ seq }) => seq);
    assert.deepEqual([new Set(seqs).size, seqs.length], [9, 9]);
  });
  it("is answered in memory within the grace time", async (context) => {
    const { approve, gateway, decide, valueOf, calls } = await open(context, {
      ...ASKS,
      approvals: { graceMs: 60_000 },
    });
    await approve("pays", PAYS);
    const asked = Promise.withResolvers<ApprovalId>();
    const done = gateway.execute({
      source: "return await skills.pays({})",
      principal: gateway.agent,
      hasForms: true,
      onEvent: (event) => void (event.kind === "asked" && asked.resolve(event.approval.id)),
    });
    await decide(await asked.promise);
    assert.deepEqual(valueOf(await done), ["list", "list"]);
    assert.deepEqual(calls, ["list {}", 'pay {"for":"list"}']);
  });
});

describe("a suspended skill", () => {
  it("keeps its version when another one is approved, and stops when it is revoked", async (context) => {
    const { approve, execute, resume, valueOf, desk, run } = await open(context);
    await approve("pays", PAYS);
    const [kept, stopped] = [
      await execute("return await skills.pays({})"),
      await execute("return await skills.pays({})"),
    ];
    await approve("pays", { run: 'return "new"' });
    assert.equal(await run("return await skills.pays({})"), "new");
    assert.deepEqual(valueOf(await resume(kept)), ["list", "list"]);
    await desk.revoke({ name: "pays", version: 1 }, OPERATOR);
    assert.equal(valueOf(await resume(stopped)), "failed SKILL_NOT_APPROVED");
  });
  it("is shown again by a replay, with its calls and without an upstream", async (context) => {
    const { approve, execute, resume, settings, calls } = await open(context);
    await approve("pays", PAYS);
    const { execution } = await resume(await execute("return await skills.pays({})"));
    const made = calls.length;
    await using records = await openOperatorRecords(settings);
    const kept = await records.findRecording(execution, { actor: OPERATOR.id, action: "execution.replayed" });
    const { signal } = new AbortController();
    const { result, difference } = await replayRecording(settings, kept, { signal }, createHostPowers());
    assert.deepEqual([difference, result.calls.length, calls.length], [undefined, 3, made]);
  });
});
