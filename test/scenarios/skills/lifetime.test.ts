/** Skills and time: suspended programs, revoked approvals, and processes that die during an approval. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { OPERATOR } from "../../../src/identity/index.ts";
import { openRecords, toSkillRecords } from "../../../src/open-records.ts";
import { openSkillRecords } from "../../../src/skills/index.ts";
import { openSkillDesk } from "../../../src/skills/open-desk.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const ASKS = { policy: { rules: [{ id: "ask", decision: "ask", tools: ["shop.pay"] }] }, approvals: { graceMs: 0 } };
const CODE = "const before = await skills.one({}); await shop.pay({}); return [before, await skills.one({})]";

/** A program that is suspended after its first call of the skill. */
async function suspend(world: Awaited<ReturnType<typeof openSkillGateway>>) {
  await world.approve("one", { tools: ["shop.list"], run: "return (await shop.list({})).name" });
  const { state, execution, approvals = [] } = await world.execute(CODE);
  assert.equal(state, "paused");
  const decide = async (): Promise<string> => {
    const [id] = approvals;
    assert.ok(id !== undefined);
    await world.gateway.approvals.decide(id, { verdict: "approve" }, OPERATOR);
    await world.gateway.resumeNow(execution);
    const view = await world.gateway.view({ principal: world.gateway.agent, execution });
    return view.state === "completed" ? JSON.stringify(view.value) : `${view.state} ${view.error?.code ?? ""}`;
  };
  return { decide };
}

describe("a suspended program", () => {
  it("resumes with the skill that it called before, and makes none of its calls again", async (context) => {
    const world = await openSkillGateway(context, ASKS);
    const { decide } = await suspend(world);
    assert.deepEqual(world.calls, ["list {}"]);
    assert.equal(await decide(), '["list","list"]');
    assert.deepEqual(world.calls, ["list {}", "pay {}", "list {}"]);
  });
  it("does not continue with a skill that was revoked meanwhile", async (context) => {
    const world = await openSkillGateway(context, ASKS);
    const { decide } = await suspend(world);
    await world.desk.revoke({ name: "one" }, OPERATOR);
    assert.equal(await decide(), "failed SKILL_NOT_APPROVED");
    assert.deepEqual(world.calls, ["list {}"]);
  });
});

describe("a process that dies while it approves", () => {
  /** What comes after is never reached: on disk is what a killed process leaves. */
  const steps = ["stage", "record", "change", "publish"] as const;
  for (const step of steps)
    it(`before ${step} leaves a version that waits, or one that is approved as a whole`, async (context) => {
      const world = await openSkillGateway(context);
      await world.submit("one", { run: "return 1" });
      await using records = await openRecords(world.settings);
      const skills = openSkillRecords(toSkillRecords(world.settings, records));
      const died = new Error("killed");
      const die = async (): Promise<never> => Promise.reject(died);
      const { folder, ledger, store } = skills;
      assert.ok(folder);
      const broken = {
        stage: { folder: { ...folder, stage: die } },
        record: { ledger: { ...ledger, write: die } },
        change: { store: { ...store, change: die } },
        publish: { folder: { ...folder, publish: die } },
      }[step];
      await assert.rejects(openSkillDesk({ ...skills, ...broken }).approve({ name: "one" }, OPERATOR), died);
      const isApproved = step === "publish";
      const code = "return await skills.one({})";
      assert.equal(await world.run(code), isApproved ? 1 : "failed SKILL_NOT_APPROVED");
      if (!isApproved) await world.desk.approve({ name: "one" }, OPERATOR);
      assert.equal(await world.run(code), 1);
      const [listed] = await world.desk.list();
      assert.deepEqual([listed?.state, listed?.frozen], ["approved", undefined]);
      assert.ok(existsSync(join(world.settings.skills.folder ?? "", "one", "skill.lock.json")));
    });
});
