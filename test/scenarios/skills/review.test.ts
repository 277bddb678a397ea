/** What a reviewer sees, and what is refused before a person has to look. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { OPERATOR } from "../../../src/identity/index.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const LIST = { tool: "shop.list", args: { a: 1 }, result: { name: "kept", args: {} } };
const ONE = { tools: ["shop.list"], run: "return (await shop.list({ a: input.a })).name" };
const TEST = { input: { a: 1 }, calls: [LIST], output: "kept" };

describe("the tests of a skill", () => {
  it("are replayed on both engines, with no upstream", async (context) => {
    const { submit, desk, calls } = await openSkillGateway(context);
    await submit("one", { ...ONE, tests: { kept: TEST } });
    const { tests } = await desk.show({ name: "one" });
    const runs = [{ engine: "quickjs" }, { engine: "isolate" }];
    assert.deepEqual(tests, [{ file: "tests/kept.json", calls: 1, runs }]);
    assert.deepEqual(calls, []);
  });
  const failing = {
    "returns something else": [
      { ...TEST, output: "lost" },
      /tests\/kept\.json fails: it returns "kept" instead of "lost"/,
    ],
    "makes another call": [{ ...TEST, calls: [{ ...LIST, args: { a: 2 } }] }, /it calls shop\.list \{"a":1\}, which/],
    "leaves a call out": [{ ...TEST, calls: [LIST, LIST] }, /it does not call shop\.list \{"a":1\}/],
    throws: [{ ...TEST, calls: [{ ...LIST, result: null }] }, /it throws /],
  } as const;
  it("are a reason to refuse a skill that does something else, and nothing of it is stored", async (context) => {
    const { submit, desk } = await openSkillGateway(context);
    for (const [what, [test, message]] of Object.entries(failing)) {
      await assert.rejects(
        submit("one", { ...ONE, tests: { kept: test } }),
        { code: "REQUEST_INVALID", message },
        what,
      );
      assert.deepEqual(await desk.list(), []);
    }
    assert.equal((await submit("one", { ...ONE, tests: { kept: TEST } })).state, "pending_review");
  });
  it("find a skill that depends on the engine", async (context) => {
    const { submit } = await openSkillGateway(context);
    const run = "try { null.x } catch (e) { return e.message }";
    const message =
      /kept\.json fails on (quickjs|isolate), but not on (quickjs|isolate): the skill depends on the engine/;
    const outputs = ["cannot read property 'x' of null", "Cannot read properties of null (reading 'x')"];
    for (const output of outputs)
      await assert.rejects(submit("one", { run, tests: { kept: { input: {}, output } } }), { message });
  });
  it("have the clock and the random numbers of the recording, and wait for no real time", async (context) => {
    const { submit } = await openSkillGateway(context);
    const run = "await new Promise((done) => setTimeout(done, 5_000)); return new Date().toISOString()";
    const start = { seed: [1, 2, 3, 4], atMs: 0 };
    const tests = { later: { input: {}, output: "1970-01-01T00:00:05.000Z", start } };
    assert.equal((await submit("one", { run, tests })).state, "pending_review");
  });
  it("are replayed without the grants that a reviewer leaves out", async (context) => {
    const { submit, desk } = await openSkillGateway(context);
    await submit("one", { ...ONE, tests: { kept: TEST } });
    await assert.rejects(desk.approve({ name: "one", without: ["shop.list"] }, OPERATOR), { code: "REQUEST_INVALID" });
    assert.equal((await desk.approve({ name: "one" }, OPERATOR)).state, "approved");
  });
});

describe("a review", () => {
  it("shows what changed since the approved version: code, description, schema and grants", async (context) => {
    const { submit, approve, desk } = await openSkillGateway(context);
    await approve("one", { tools: ["shop.list", "shop.pay"], run: "await shop.pay({}); return await shop.list({})" });
    const input = { type: "object", properties: { a: { type: "string" } } };
    await submit("one", {
      tools: ["shop.list", "shop.remove"],
      run: "await shop.remove({}); return await shop.list({})",
      input,
      description: "Another.",
    });
    const { changes, grants, plan } = await desk.show({ name: "one" });
    assert.equal(changes.since, 1);
    assert.deepEqual(changes.description, ["- The skill one.", "+ Another."]);
    assert.ok(changes.input?.includes('+     "a": {'));
    assert.equal(changes.output, undefined);
    assert.deepEqual(changes.removedGrants, ["tool:shop.pay"]);
    assert.deepEqual(
      grants.map(({ id, change, decision, pin }) => [id, change, decision, pin?.effect]),
      [
        ["tool:shop.list", "same", "open", "read"],
        ["tool:shop.remove", "new", "open", "destroy"],
      ],
    );
    assert.deepEqual(
      plan.calls.map(({ tool, effect }) => [tool, effect]),
      [
        ["shop.list", "read"],
        ["shop.remove", "destroy"],
      ],
    );
  });
  it("names skills that are like it", async (context) => {
    const { approve, submit, desk } = await openSkillGateway(context);
    await approve("count-stock", { run: "return 1", description: "Counts the stock of one product." });
    await submit("count-stack", { run: "return 1", description: "Something else." });
    await submit("stock-of", { run: "return 2", description: "Counts the stock of a product." });
    await submit("other", { run: "return 3", description: "Sends an invoice." });
    const similar = async (name: string) => (await desk.show({ name })).similar.map((one) => [one.name, one.why]);
    assert.deepEqual(await similar("count-stack"), [["count-stock", "the same code"]]);
    assert.deepEqual(await similar("stock-of"), [["count-stock", "almost the same description"]]);
    assert.deepEqual(await similar("other"), []);
  });
  it("decides each grant: a decision that leaves one open is refused", async (context) => {
    const { submit, desk } = await openSkillGateway(context);
    await submit("one", { tools: ["shop.list", "shop.pay"], run: "await shop.pay({}); return await shop.list({})" });
    const grants = { "tool:shop.list": true };
    await assert.rejects(desk.approve({ name: "one", grants }, OPERATOR), {
      code: "REQUEST_INVALID",
      message: /tool:shop\.pay/,
    });
    await assert.rejects(desk.approve({ name: "one", grants: { ...grants, "tool:x.y": true } }, OPERATOR), {
      code: "REQUEST_NOT_FOUND",
    });
    await desk.approve({ name: "one", grants: { ...grants, "tool:shop.pay": false } }, OPERATOR);
    const { grants: decided } = await desk.show({ name: "one" });
    assert.deepEqual(
      decided.map(({ id, decision }) => [id, decision]),
      [
        ["tool:shop.list", "granted"],
        ["tool:shop.pay", "refused"],
      ],
    );
  });
  it("ends with a retired version, too, which programs can no longer start", async (context) => {
    const { approve, desk, run } = await openSkillGateway(context);
    await approve("one", { run: "return 1" });
    assert.equal(await run("return await skills.one({})"), 1);
    assert.equal((await desk.retire({ name: "one" }, OPERATOR, "unused")).state, "retired");
    assert.equal(await run("return await skills.one({})"), "failed SKILL_NOT_APPROVED");
    assert.equal((await desk.show({ name: "one" })).note, "unused");
  });
});
