/** Reviews of skills over HTTP: what a reviewer reads, what they decide, and who may not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { openSkillGateway, toTexts } from "../../../test/fixtures/skill-gateway.ts";
import type { Gateway } from "../gateway.ts";
import { skillDraftSchema, skillSuggestionsSchema, skillUsageSchema } from "./contract/skill-drafts.ts";
import { skillReviewSchema, skillSchema, skillsSchema } from "./contract/skills.ts";
import { createMemoryGateway } from "../mcp/fixtures/memory-gateway.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

async function start(t: TestContext, more: Partial<Gateway> = {}) {
  const world = await openSkillGateway(t);
  const { send } = await startApp(t, undefined, { skills: world.gateway.skills, ...more });
  const ask = async (path: string, body?: object) => {
    const method = body ? "POST" : "GET";
    const init = { method, headers: SESSION, ...(body && { body: JSON.stringify(body) }) };
    const answer = await send(`/api/skills${path}`, init);
    const json: unknown = JSON.parse(answer.body);
    return { status: answer.status, json };
  };
  const review = async (path: string) => skillReviewSchema.parse((await ask(path)).json);
  return { ...world, send, ask, review };
}

const ONE = { tools: ["shop.list", "shop.pay"], run: "await shop.pay({}); return await shop.list({})" };

test("a reviewer submits, reads and decides about each grant over the API, and programs call the skill", async (t) => {
  const { ask, review, run } = await start(t);
  const submitted = skillSchema.parse((await ask("", { files: toTexts("one", ONE) })).json);
  assert.deepEqual([submitted.name, submitted.version, submitted.state], ["one", 1, "pending_review"]);
  const { grants, plan, changes, digest, version, refusal, files } = await review("/one");
  assert.deepEqual(
    grants.map(({ id, decision }) => [id, decision]),
    [
      ["tool:shop.list", "open"],
      ["tool:shop.pay", "open"],
    ],
  );
  assert.deepEqual([plan.calls.length, changes.files.length, refusal], [2, 2, undefined]);
  assert.match(files["skill.ts"] ?? "", /defineSkill/);
  const seen = { version, digest };
  const undecided = await ask("/one/approve", { ...seen, grants: { "tool:shop.list": true } });
  assert.equal(undecided.status, 400);
  const other = await ask("/one/approve", { version, digest: `sha256:${"0".repeat(64)}`, grants: {} });
  assert.equal(other.status, 404);
  const decided = { "tool:shop.list": true, "tool:shop.pay": true };
  const approved = await ask("/one/approve", { ...seen, grants: decided, note: "fine" });
  assert.deepEqual([approved.status, skillSchema.parse(approved.json).state], [200, "approved"]);
  assert.deepEqual(await run("return (await skills.one({})).name"), "list");
  const { skills } = skillsSchema.parse((await ask("")).json);
  assert.deepEqual(
    skills.map(({ name, state, summary }) => [name, state, summary]),
    [["one", "approved", "The skill one."]],
  );
  assert.equal((await ask("/one/approve", { ...seen, grants: decided })).status, 404);
});

test("a skill is rejected, revoked, retired and rolled back over the API", async (t) => {
  const { ask, review, submit, run } = await start(t);
  const decide = async (what: string, more: object = {}, path = "/one") => {
    const { version, digest } = await review(path);
    const answer = await ask(`/one/${what}`, { version, digest, ...more });
    return answer.status === 200 ? skillSchema.parse(answer.json).state : answer.status;
  };
  await submit("one", { run: "return 1" });
  assert.equal(await decide("reject"), 400);
  assert.equal(await decide("reject", { reason: "Ask for less" }), "rejected");
  assert.equal((await review("/one")).note, "Ask for less");
  for (const value of [1, 2]) {
    await submit("one", { run: `return ${value}` });
    assert.equal(await decide("approve", { grants: {} }), "approved");
  }
  assert.equal(await run("return await skills.one({})"), 2);
  const back = await ask("/one/rollback", { version: 2 });
  assert.deepEqual([back.status, skillSchema.parse(back.json).version], [200, 4]);
  assert.equal(await run("return await skills.one({})"), 2);
  assert.equal(await decide("approve", { grants: {} }), "approved");
  assert.equal(await run("return await skills.one({})"), 1);
  assert.equal(await decide("revoke", { reason: "wrong" }), "revoked");
  assert.equal(await run("return await skills.one({})"), "failed SKILL_NOT_APPROVED");
});

test("bad bodies and unknown skills are refused, and other roles see nothing", async (t) => {
  const { ask, send, submit, desk } = await start(t);
  await submit("one", { run: "return 1" });
  const large = { files: { ...toTexts("two", { run: "return 1" }), "tests/x.json": "x".repeat(256 * 1024) } };
  const bad: readonly (readonly [path: string, body: object | undefined, status: number])[] = [
    ["/none", undefined, 404],
    ["/one?version=2", undefined, 404],
    ["/one?version=x", undefined, 400],
    ["/one/approve", { version: 1 }, 400],
    ["/one/thaw", {}, 404],
    ["", { files: { "SKILL.md": "x" } }, 400],
    ["", { files: toTexts("two", { tools: ["shop.none"], run: "return await shop.none({})" }) }, 400],
    ["", { files: toTexts("two", { run: "return (" }) }, 422],
    ["", large, 422],
  ];
  for (const [path, body, status] of bad) assert.equal((await ask(path, body)).status, status, path);
  assert.equal((await send("/api/skills")).status, 401);
  assert.deepEqual(
    (await desk.list()).map(({ name, state }) => [name, state]),
    [["one", "pending_review"]],
  );
});

test("a person drafts a skill from an execution over the API, unless they may not see what it did", async (t) => {
  const { ask, execute, review } = await start(t);
  const { execution } = await execute('return (await shop.list({ owner: "acme", limit: 5 })).name');
  const draft = { execution, name: "owner-list", description: "Lists.", keep: ["limit"] };
  const { status, json } = await ask("/drafts", draft);
  assert.equal(status, 200, JSON.stringify(json));
  const { state, parameters } = skillDraftSchema.parse(json);
  assert.deepEqual([state, parameters], ["pending_review", [{ name: "owner", value: "acme" }]]);
  assert.deepEqual((await review("/owner-list")).origin, { kind: "execution", execution, by: "operator" });
  assert.equal((await ask("/drafts", { execution: "ex_1" })).status, 400);
  assert.equal((await ask("/drafts", { ...draft, more: 1 })).status, 400);
  const approvals = { ...createMemoryGateway().approvals, showsArguments: () => false };
  const blind = await start(t, { approvals });
  assert.equal((await blind.ask("/drafts", draft)).status, 403);
});

test("a person reads suggestions and figures over the API, and drafts what is suggested", async (t) => {
  const { ask, execute, approve, run } = await start(t);
  for (const owner of ["a", "b", "c"]) await execute(`return (await shop.list({ owner: "${owner}" })).name`);
  const { suggestions } = skillSuggestionsSchema.parse((await ask("/-/suggestions")).json);
  assert.deepEqual(
    suggestions.map(({ parameters, executions }) => [parameters, executions.length]),
    [[[{ name: "owner", values: ["c", "b", "a"] }], 3]],
  );
  const drafted = await ask("/drafts", { execution: suggestions[0]?.executions, name: "by-owner" });
  assert.equal(drafted.status, 200, JSON.stringify(drafted.json));
  assert.deepEqual(skillDraftSchema.parse(drafted.json).parameters?.[0]?.values, ["c", "b", "a"]);
  await approve("one", { run: "return 1" });
  await run("return await skills.one({})");
  const { skills } = skillUsageSchema.parse((await ask("/-/usage")).json);
  assert.deepEqual(
    skills.map(({ name, calls, succeeded }) => [name, calls, succeeded]),
    [["one", 1, 1]],
  );
  const approvals = { ...createMemoryGateway().approvals, showsArguments: () => false };
  const blind = await start(t, { approvals });
  assert.deepEqual([(await blind.ask("/-/suggestions")).status, (await blind.ask("/-/usage")).status], [403, 200]);
});
