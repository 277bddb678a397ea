/** What a skill may do when a program calls it, in a gateway with everything that belongs to it. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { OPERATOR } from "../../../src/identity/index.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

/** Reports how a call failed. */
const caught = (call: string): string => `try { return await ${call} } catch (e) { return e.code }`;

describe("a program that names a skill", () => {
  it("runs only if a version is approved: pending, rejected and revoked ones are refused before it starts", async (context) => {
    const { submit, desk, run, calls } = await openSkillGateway(context);
    const code = "await shop.pay({}); return await skills.one({ a: 1 })";
    await submit("one", { run: "return input.a" });
    assert.deepEqual([await run(code), calls], ["failed SKILL_NOT_APPROVED", []]);
    assert.equal(
      await run('const name = "o" + input; return await skills[name]({})', { input: "ne" }),
      "failed SKILL_NOT_APPROVED",
    );
    await desk.reject({ name: "one" }, "no", OPERATOR);
    assert.deepEqual([await run(code), calls], ["failed SKILL_NOT_APPROVED", []]);
    await submit("one", { run: "return input.a" });
    await desk.approve({ name: "one" }, OPERATOR);
    assert.deepEqual([await run(code), calls.length], [1, 1]);
    await desk.revoke({ name: "one" }, OPERATOR);
    assert.deepEqual([await run(code), calls.length], ["failed SKILL_NOT_APPROVED", 1]);
  });
  it("is refused with the file if it was changed on disk, in a program, as a plain call and in a program that runs", async (context) => {
    const { approve, folder, run, gateway, desk, settings } = await openSkillGateway(context);
    await approve("one", { run: "return 1" });
    const plain = async (): Promise<string> => {
      const { result } = await gateway.callTools({
        principal: gateway.agent,
        calls: [{ address: "skills.one", args: {} }],
      });
      return result.error?.code ?? result.state;
    };
    assert.deepEqual([await run("return await skills.one({})"), await plain()], [1, "completed"]);
    const file = join(settings.skills.folder ?? folder, "one", "skill.ts");
    writeFileSync(file, "export default 2");
    assert.deepEqual(
      [await run("return await skills.one({})"), await plain()],
      ["failed SKILL_FROZEN", "SKILL_FROZEN"],
    );
    await desk.restore({ name: "one" }, OPERATOR);
    assert.deepEqual([await run("return await skills.one({})"), await plain()], [1, "completed"]);
  });
  it("finds it with its types, and its arguments are checked", async (context) => {
    const { approve, gateway, run } = await openSkillGateway(context, { analysis: { types: "error" } });
    const input = { type: "object", properties: { below: { type: "integer" } }, required: ["below"] };
    await approve("low-stock", { run: "return input.below", input });
    const { tools } = await gateway.search(gateway.agent, { query: "low stock" });
    assert.equal(tools[0]?.name, "skills.lowStock");
    const { declarations } = await gateway.describe(gateway.agent, ["skills.lowStock"], "types");
    assert.match(declarations, /lowStock\(args: \{[^}]*below: number/s);
    assert.equal(await run('return await skills.lowStock({ below: "x" })'), "failed PROGRAM_TYPES");
    assert.equal(
      await run('return await skills.lowStock(JSON.parse(\'{"below":"x"}\'))'),
      "failed TOOL_ARGUMENTS_INVALID",
    );
    assert.equal(await run("return await skills.lowStock({ below: 3 })"), 3);
  });
});

describe("a skill that runs", () => {
  it("reaches exactly its granted tools, and no builtin", async (context) => {
    const { approve, run, submit, desk } = await openSkillGateway(context);
    await approve("one", { tools: ["shop.list"], run: "return (await shop.list({ a: input.a })).args" });
    assert.deepEqual(await run("return await skills.one({ a: 1 })"), { a: 1 });
    await submit("two", { tools: ["shop.list", "shop.pay"], run: "await shop.list({}); return await shop.pay({})" });
    await desk.approve({ name: "two", without: ["shop.pay"] }, OPERATOR);
    assert.equal(await run("return await skills.two({})"), "failed TOOL_NOT_FOUND");
    await approve("three", { run: caught("glovebox.search('shop')") });
    assert.equal(await run("return await skills.three({})"), "TOOL_NOT_FOUND");
    await approve("four", { run: "return typeof fetch('https://example.com').catch((e) => e.code)" });
    await approve("five", { run: caught("fetch('https://example.com')") });
    assert.equal(await run("return await skills.five({})"), "EGRESS_DENIED");
  });
  it("stays within the rules of its caller: what is denied to the caller is denied inside", async (context) => {
    const rules = [{ id: "no-pay", decision: "deny", tools: ["shop.pay"] }];
    const { approve, run, calls } = await openSkillGateway(context, { policy: { rules } });
    await approve("one", { tools: ["shop.list", "shop.pay"], run: "await shop.list({}); return await shop.pay({})" });
    assert.equal(await run("return await skills.one({})"), "failed POLICY_DENIED");
    assert.deepEqual(calls, ["list {}"]);
  });
  it("has its calls in trace and ledger under its own, and in the counts of the program", async (context) => {
    const { approve, execute, gateway, run } = await openSkillGateway(context);
    await approve("one", { tools: ["shop.list"], run: "await shop.list({}); return await shop.list({})" });
    const { execution, calls, stats } = await execute("await shop.list({}); return await skills.one({})");
    assert.deepEqual(
      calls.map(({ tool, under, outcome }) => [tool, under, outcome]),
      [
        ["shop.list", undefined, "ok"],
        ["skills.one", undefined, "ok"],
        ["shop.list", 2, "ok"],
        ["shop.list", 2, "ok"],
      ],
    );
    assert.equal(stats.calls, 4);
    const records = (await gateway.records({ limit: 50 })).filter(({ detail }) => detail["execution"] === execution);
    const under = records.filter(({ action, detail }) => action === "call.intended" && detail["under"] === 2);
    assert.equal(under.length, 2);
    const limits = { calls: 4 };
    assert.equal(await run("await shop.list({}); await skills.one({}); return 1", { limits }), 1);
    assert.equal(
      await run("await shop.list({}); await skills.one({}); await shop.list({})", { limits }),
      "failed LIMIT_CALLS",
    );
    assert.equal(await run("await skills.one({}); return await skills.one({})", { limits }), "failed LIMIT_CALLS");
  });
  it("gives its caller the labels of what it read, and cannot send what its caller read", async (context) => {
    const labels = [
      { tools: ["shop.list"], add: ["private", "untrusted"] },
      { tools: ["shop.pay"], add: ["external"] },
    ];
    const { approve, run } = await openSkillGateway(context, { policy: { flows: "deny", labels } });
    await approve("reads", { tools: ["shop.list"], run: "return await shop.list({})" });
    await approve("sends", { tools: ["shop.pay"], run: "return (await shop.pay(input)).name" });
    assert.equal(await run("return await skills.sends({ a: 1 })"), "pay");
    assert.equal(await run("return await skills.sends(await skills.reads({}))"), "failed POLICY_DENIED");
  });
  it("calls skills at most four levels deep, never itself, and many at once without a second place", async (context) => {
    const { approve, run } = await openSkillGateway(context, { sandbox: { concurrency: 1 } });
    await approve("level-5", { run: "return 5" });
    for (const level of [4, 3, 2, 1])
      await approve(`level-${level}`, {
        tools: [`skills.level${level + 1}`],
        run: `return await skills.level${level + 1}({})`,
      });
    assert.equal(await run("return await skills.level2({})"), 5);
    assert.equal(await run("return await skills.level1({})"), "failed PROGRAM_FORBIDDEN");
    const many = "return (await Promise.all([1, 2, 3].map(() => skills.level4({})))).length";
    assert.equal(await run(many), 3);
  });
  it("ends with its caller, and its errors have the name of the skill and no place of it", async (context) => {
    const { approve, execute, run } = await openSkillGateway(context);
    await approve("spins", { run: "let n = 0; while (n >= 0) n += input.by; return n" });
    assert.equal(await run("return await skills.spins({ by: 1 })", { limits: { cpuMs: 60 } }), "failed LIMIT_TIME");
    await approve("throws", { run: 'throw new Error("broken")' });
    const { error } = await execute("return await skills.throws({})");
    assert.match(error?.message ?? "", /skills\.throws failed: .*broken/);
    assert.equal(await run("return await skills.throws({}).catch((e) => e.code)"), "PROGRAM_THREW");
  });
});
