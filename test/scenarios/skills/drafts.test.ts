/** Skills that are drafted from what ran: by a person from an execution, and by a program. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseSecretName } from "../../../src/domain/index.ts";
import { LOCAL, OPERATOR } from "../../../src/identity/index.ts";
import { openOperatorRecords } from "../../../src/open-records.ts";
import { Secret } from "../../../src/vault/index.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const CODE = `const { args } = await shop.list({ owner: "acme", limit: 5 });
const both: string[] = await Promise.all(["a", "b"].map(async (sku) => (await shop.list({ sku, owner: "acme" })).name));
({ names: both.join("-"), limit: args.limit, owner: input.who })`;

type Drafts = Awaited<ReturnType<typeof openSkillGateway>>["gateway"]["skills"]["drafts"];
type DraftRest = Parameters<Drafts["fromExecutions"]> extends [unknown, ...infer Rest] ? Rest : never;

async function openDrafts(context: Parameters<typeof openSkillGateway>[0], config?: object) {
  const world = await openSkillGateway(context, config);
  const { drafts: all } = world.gateway.skills;
  const fromExecution = (id: string, ...more: DraftRest) => all.fromExecutions([id], ...more);
  const drafts = { ...all, fromExecution };
  const run = async (code: string, more?: object) => {
    const { execution, state, error } = await world.execute(code, more);
    assert.equal(state, "completed", error?.message);
    return execution;
  };
  return { ...world, drafts, finish: run };
}

describe("a skill from an execution", () => {
  it("has its literal arguments as typed parameters, its calls as needed tools and its recording as a passing test", async (context) => {
    const { drafts, desk, finish, run, calls } = await openDrafts(context);
    const execution = await finish(CODE, { input: { who: "ada" } });
    const choice = { name: "two-names", description: "Joins names." };
    const drafted = await drafts.fromExecution(execution, choice, OPERATOR);
    assert.deepEqual(
      [drafted.state, drafted.parameters],
      [
        "pending_review",
        [
          { name: "owner", value: "acme" },
          { name: "limit", value: 5 },
          { name: "skus", value: ["a", "b"] },
        ],
      ],
    );
    const review = await desk.show({ name: "two-names" });
    assert.deepEqual([review.author, review.origin], [LOCAL.id, { kind: "execution", execution, by: OPERATOR.id }]);
    assert.deepEqual(review.input, {
      type: "object",
      properties: {
        who: { type: "string" },
        owner: { type: "string" },
        limit: { type: "number" },
        skus: { type: "array", items: { type: "string" } },
      },
      required: ["who", "owner", "limit", "skus"],
    });
    assert.deepEqual(
      review.grants.map(({ name }) => name),
      ["shop.list"],
    );
    assert.deepEqual(
      review.tests.map(({ calls: made, runs }) => [made, runs.map(({ engine, problem }) => [engine, problem])]),
      [
        [
          3,
          [
            ["quickjs", undefined],
            ["isolate", undefined],
          ],
        ],
      ],
    );
    assert.match(review.files["skill.ts"] ?? "", /const both: string\[\] = await Promise\.all\(input\.skus\.map/);
    await desk.approve({ name: "two-names" }, OPERATOR);
    assert.equal((await desk.show({ name: "two-names" })).approval?.selfReviewed, false);
    const call = 'return await skills.twoNames({ who: "bob", owner: "other", limit: 7, skus: ["x"] })';
    assert.deepEqual(await run(call), { names: "list", limit: 7, owner: "bob" });
    assert.deepEqual(calls.slice(-2), ['list {"owner":"other","limit":7}', 'list {"sku":"x","owner":"other"}']);
  });
  it("keeps literals on demand, has a name and a description of its own, and the same draft waits once", async (context) => {
    const { drafts, desk, finish } = await openDrafts(context);
    const execution = await finish('return (await shop.list({ owner: "acme", limit: 5 })).name');
    const drafted = await drafts.fromExecution(execution, { keep: ["limit"] }, OPERATOR);
    assert.deepEqual([drafted.name, drafted.parameters], ["list", [{ name: "owner", value: "acme" }]]);
    assert.match((await desk.show({ name: "list" })).files["skill.ts"] ?? "", /owner: input\.owner, limit: 5/);
    assert.equal((await drafts.fromExecution(execution, { keep: ["limit"] }, OPERATOR)).version, 1);
    assert.equal((await drafts.fromExecution(execution, {}, OPERATOR)).version, 2);
  });
  it("depends on no time and no chance but those of its recording", async (context) => {
    const { drafts, desk, finish } = await openDrafts(context);
    const execution = await finish("return [Date.now(), Math.random(), (await shop.list({ a: 1 })).name]");
    await drafts.fromExecution(execution, { name: "timed" }, OPERATOR);
    const [test] = (await desk.show({ name: "timed" })).tests;
    assert.deepEqual(
      test?.runs.map(({ problem }) => problem),
      [undefined, undefined],
    );
  });
  it("is refused with the reason, and nothing is stored, for one that cannot become a skill", async (context) => {
    const { drafts, desk, execute, finish } = await openDrafts(context);
    const refused: Readonly<Record<string, [code: string, more?: object]>> = {
      "is failed": ["throw new Error('x')"],
      "has a failed call: shop.nothing": ["return await shop['no' + 'thing']({}).catch(() => 1)"],
      "calls glovebox.search": ["await glovebox.search('x'); return 1"],
      "was a dry run": ["return await shop.pay({})", { dryRun: true }],
      "reads an `input` that is not an object": ["await shop.list({}); return input + 1", { input: 1 }],
      "too large for a test": ["return 'x'.repeat(3_000_000)"],
    };
    for (const [why, [code, more]] of Object.entries(refused)) {
      const { execution } = await execute(code, more);
      const failure = await drafts.fromExecution(execution, { name: "x" }, OPERATOR).catch((thrown: unknown) => thrown);
      assert.ok(String(failure).includes(why), `${why}: ${String(failure)}`);
    }
    const good = await finish("return (await shop.list({})).name");
    await assert.rejects(drafts.fromExecution("ex_1", {}, OPERATOR), { code: "REQUEST_INVALID" });
    await assert.rejects(drafts.fromExecution(`ex_${"0".repeat(24)}`, {}, OPERATOR), { code: "REQUEST_NOT_FOUND" });
    await assert.rejects(drafts.fromExecution(good, { name: "No Name" }, OPERATOR), { code: "REQUEST_INVALID" });
    await assert.rejects(drafts.fromExecution(good, {}, LOCAL), { code: "POLICY_DENIED" });
    assert.deepEqual(await desk.list(), []);
    assert.equal((await drafts.fromExecution(good, {}, OPERATOR)).state, "pending_review");
  });
});

describe("an execution with a secret in its recording", () => {
  it("becomes no skill, and one beside it does", async (context) => {
    const world = await openSkillGateway(context);
    await using records = await openOperatorRecords(world.settings);
    const name = parseSecretName("KEY");
    assert.ok(name);
    await records.vault.set(name, new Secret("a-secret-value-1234"), "operator");
    const gateway = await world.open();
    const finish = async (key: string) =>
      (await gateway.execute({ source: `return (await shop.list({ key: "${key}" })).name`, principal: LOCAL }))
        .execution;
    const { drafts } = gateway.skills;
    const secret = await finish("a-secret-value-1234");
    await assert.rejects(drafts.fromExecutions([secret], {}, OPERATOR), /contains the value of a secret/);
    assert.equal((await drafts.fromExecutions([await finish("other")], {}, OPERATOR)).state, "pending_review");
  });
});

describe("programs that differ only in literals", () => {
  const code = (owner: string, limit: number): string =>
    `const { args } = await shop.list({ owner: "${owner}", limit: ${limit}, order: "name" });\nreturn args.owner + args.limit;`;

  it("are suggested as one skill that repeats each of them, and drafted on demand", async (context) => {
    const { drafts, desk, finish, run, calls } = await openDrafts(context);
    const executions = [await finish(code("acme", 5)), await finish(code("other", 5)), await finish(code("acme", 7))];
    await finish("return (await shop.list({})).name");
    await finish("return await shop.list({ a: 1 })");
    const before = calls.length;
    const suggestions = await drafts.suggest(OPERATOR);
    assert.deepEqual(
      suggestions.map((one) => [one.executions, one.principal, one.tools, one.parameters]),
      [
        [
          executions.toReversed(),
          LOCAL.id,
          ["shop.list"],
          [
            { name: "owner", values: ["acme", "other", "acme"] },
            { name: "limit", values: [7, 5, 5] },
          ],
        ],
      ],
    );
    assert.deepEqual([calls.length, await desk.list()], [before, []]);
    const drafted = await drafts.fromExecutions(suggestions[0]?.executions ?? [], { name: "orders" }, OPERATOR);
    assert.deepEqual(drafted.parameters?.[0], { name: "owner", value: "acme", values: ["acme", "other", "acme"] });
    const { tests, files, author } = await desk.show({ name: "orders" });
    assert.deepEqual([author, tests.length], [LOCAL.id, 3]);
    assert.ok(tests.every(({ runs }) => runs.length === 2 && runs.every(({ problem }) => problem === undefined)));
    assert.match(files["skill.ts"] ?? "", /owner: input\.owner, limit: input\.limit, order: "name"/);
    await desk.approve({ name: "orders" }, OPERATOR);
    assert.equal(await run('return await skills.orders({ owner: "x", limit: 1 })'), "x1");
  });
  it("are not suggested for two of them, or if the program does not repeat one of them", async (context) => {
    const { drafts, finish } = await openDrafts(context);
    for (const owner of ["a", "b"]) await finish(code(owner, 1));
    assert.deepEqual(await drafts.suggest(OPERATOR), []);
    // The value depends on the place of the code.
    for (const n of [1, 2, 3]) await finish(`return [Error().stack, (await shop.list({ n: ${n} })).name]`);
    assert.deepEqual(await drafts.suggest(OPERATOR), []);
    await finish(code("c", 1));
    assert.equal((await drafts.suggest(OPERATOR)).length, 1);
  });
  it("become no skill if they differ in more, or if an agent asks", async (context) => {
    const { drafts, finish, desk } = await openDrafts(context);
    const one = await finish(code("a", 1));
    const other = await finish(code("a", 1).replace("order", "sort"));
    await assert.rejects(drafts.fromExecutions([one, other], {}, OPERATOR), /differ in more than their literals/);
    await assert.rejects(drafts.fromExecutions([], {}, OPERATOR), { code: "REQUEST_INVALID" });
    await assert.rejects(drafts.suggest(LOCAL), { code: "POLICY_DENIED" });
    assert.deepEqual(await desk.list(), []);
  });
});

describe("a program", () => {
  const draft = (request: object): string => `return await glovebox.skills.draft(${JSON.stringify(request)})`;
  const SKILL = `export default defineSkill({ input: { type: "object" }, needs: { tools: ["shop.list"] } }, async () => (await shop.list({})).name);`;
  const ONE = { name: "one", description: "Lists." };

  it("drafts a skill from its own text or an earlier execution of its principal, and may call it once it is approved", async (context) => {
    const { desk, execute, finish, run } = await openDrafts(context);
    const { value, execution } = await execute(draft({ ...ONE, code: SKILL }));
    assert.match(JSON.stringify(value), /"skill":"one","version":1,"state":"pending_review","next":"A person reviews/);
    assert.equal(await run("return await skills.one({})"), "failed SKILL_NOT_APPROVED");
    const review = await desk.show({ name: "one" });
    assert.deepEqual([review.author, review.origin], [LOCAL.id, { kind: "program", execution }]);
    await desk.approve({ name: "one" }, OPERATOR);
    assert.equal(await run("return await skills.one({})"), "list");
    const from = await finish('return (await shop.list({ owner: "acme" })).args');
    const second = await execute(draft({ ...ONE, from }));
    assert.match(JSON.stringify(second.value), /"version":2.*"parameters":\{"owner":"acme"\}/);
    await desk.approve({ name: "one", version: 2 }, OPERATOR);
    assert.deepEqual(await run('return await skills.one({ owner: "x" })'), { owner: "x" });
  });
  it("cannot use an execution of another principal, approve, draft within a skill, or fill the queue", async (context) => {
    const { finish, approve, run, desk } = await openDrafts(context);
    const from = await finish("return 1", {});
    const other = await finish("return (await shop.list({})).name", { principal: { ...LOCAL, id: "agent:other" } });
    assert.equal(await run(draft({ ...ONE, from: other })), "failed REQUEST_NOT_FOUND");
    assert.equal(await run(draft({ ...ONE, from: `ex_${"0".repeat(24)}` })), "failed REQUEST_NOT_FOUND");
    assert.equal(await run(draft({ ...ONE, from, code: SKILL })), "failed REQUEST_INVALID");
    assert.equal(await run("return typeof glovebox.skills.approve"), "undefined");
    const both = `Promise.allSettled([1, 2].map((n) => glovebox.skills.draft({ ...input, name: "at-once", code: n === 1 ? input.code : "(" })))`;
    const settled = `return (await ${both}).map(({ status }) => status)`;
    assert.deepEqual(await run(settled, { input: { ...ONE, code: SKILL } }), ["fulfilled", "rejected"]);
    await desk.reject({ name: "at-once" }, "no", OPERATOR);
    await approve("inner", { run: "try { await glovebox.skills.draft({}) } catch (e) { return e.code }" });
    assert.equal(await run("return await skills.inner({})"), "TOOL_NOT_FOUND");
    const more = `const made = [];
for (let n = 1; n <= 20; n += 1) made.push(await glovebox.skills.draft({ ...input.one, name: "n-" + n, code: input.code }));
return made.length`;
    assert.equal(await run(more, { input: { one: ONE, code: SKILL } }), 20);
    assert.equal(await run(draft({ ...ONE, code: SKILL })), "failed LIMIT_QUOTA");
    await desk.reject({ name: "n-1" }, "no", OPERATOR);
    assert.match(JSON.stringify(await run(draft({ ...ONE, code: SKILL }))), /pending_review/);
  });
  it("is refused with what is wrong with its draft, and stores nothing", async (context) => {
    const { execute, desk } = await openDrafts(context);
    const wrong: Readonly<Record<string, object>> = {
      PROGRAM_SYNTAX: { ...ONE, code: `${SKILL}(` },
      "which needs.tools does not list": {
        ...ONE,
        code: SKILL.replace("await shop.list", "await shop.pay({}), await shop.list"),
      },
      "which no server offers": { ...ONE, code: SKILL.replaceAll("shop.list", "shop.none") },
      "SKILL.md is not valid": { ...ONE, name: "../one", code: SKILL },
      "`code` or `from`": ONE,
    };
    for (const [why, request] of Object.entries(wrong)) {
      const { error } = await execute(draft(request));
      assert.ok(JSON.stringify(error).includes(why), `${why}: ${JSON.stringify(error)}`);
    }
    assert.deepEqual(await desk.list(), []);
  });
  it("drafts only what its rules allow", async (context) => {
    const rules = [{ id: "no-drafts", decision: "deny", tools: ["glovebox.skills.draft"] }];
    const { run } = await openDrafts(context, { policy: { rules } });
    assert.equal(await run(draft({ ...ONE, code: SKILL })), "failed POLICY_DENIED");
  });
});

describe("an approved skill", () => {
  it("has figures of its calls, without dry runs and refused calls", async (context) => {
    const { approve, run, desk, gateway } = await openDrafts(context);
    await approve("one", { run: "if (input.fail) throw new Error('x'); return 1" });
    await approve("two", { tools: ["shop.pay"], run: "return await shop.pay({})" });
    await run("await skills.one({}); await skills.one({}); await skills.one({ fail: true }).catch(() => 0); return 1");
    await run("return await skills.two({})", { dryRun: true });
    await gateway.records({ limit: 1 });
    for (const usage of [await desk.usage(), await gateway.skills.usage()]) {
      const [one, two] = usage;
      assert.deepEqual([one?.name, one?.calls, one?.succeeded, one?.retire], ["one", 3, 2, undefined]);
      assert.ok(one && one.savedTokens > 0 && one.lastUsedAt !== undefined && one.medianMs !== undefined);
      assert.deepEqual([two?.calls, two?.savedTokens, two?.lastUsedAt], [0, 0, undefined]);
    }
  });
  it("is found before the tools that it calls, and after them if they fit better", async (context) => {
    const { approve, gateway } = await openDrafts(context);
    const first = async (query: string) => (await gateway.search(gateway.agent, { query })).tools[0]?.name;
    assert.equal(await first("list"), "shop.list");
    await approve("shop-list", { tools: ["shop.list"], run: "return await shop.list({})", description: "list" });
    assert.equal(await first("list"), "skills.shopList");
    assert.equal(await first("remove"), "shop.remove");
  });
});
