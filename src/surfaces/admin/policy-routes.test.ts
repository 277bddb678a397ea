/** Questions about the rules over HTTP. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openOperatorDoor } from "../../../test/fixtures/operator-door.ts";
import { parsePrincipalId } from "../../domain/index.ts";
import { OPERATOR } from "../../identity/index.ts";
import { lintSchema, policySchema, simulationSchema } from "./contract/policy.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

const RULES = [
  { id: "reads", decision: "allow", tools: ["shop.list*"], reason: "Reading is fine" },
  { id: "no-drop", decision: "deny", tools: ["db.*"], when: [{ path: "sql", prefix: "drop" }], reason: "No drop" },
];

async function start(t: Parameters<typeof startApp>[0]) {
  const operator = await openOperatorDoor(t, {
    policy: { rules: RULES, groups: { night: ["local"] }, labels: [{ tools: ["mail.*"], add: ["untrusted"] }] },
  });
  const detail = { effect: "read", decision: "allow", rule: "reads" };
  const base = { at: 1, actor: "local", subject: "shop.list", previous: "sha256:a", digest: "sha256:b" };
  const records = async () => [{ ...base, seq: 1, action: "call.intended", detail }];
  const app = await startApp(t, undefined, { records }, { operator });
  const ask = async (path: string, body?: object) => {
    const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const answer = await app.send(`/api/policy${path}`, { headers: SESSION, ...sent });
    return { status: answer.status, body: JSON.parse(answer.body) as unknown, text: answer.body };
  };
  return { ...app, operator, ask };
}

test("the rules are listed as they decide, with where they are from and how often they decided", async (t) => {
  const { ask, operator } = await start(t);
  const policy = policySchema.parse((await ask("")).body);
  assert.deepEqual(
    policy.rules.map(({ id, source, decided, when }) => [id, source, decided, when]),
    [
      ["no-drop", "configuration", 0, ['sql starts with "drop"']],
      ["reads", "configuration", 1, undefined],
    ],
  );
  assert.deepEqual([policy.profile, policy.flows, policy.groups], ["balanced", "ask", { night: ["local"] }]);
  assert.deepEqual([policy.quotas, policy.held], [[], []]);
  assert.equal(policy.config, operator.settings.source.kind === "file" ? operator.settings.source.path : "");
});

test("one call is explained, and an unknown tool or wrong arguments are refused", async (t) => {
  const { ask } = await start(t);
  assert.match((await ask("/explain?tool=shop.none")).text, /TOOL_NOT_FOUND/);
  assert.deepEqual([(await ask("/explain?tool=a&args=5")).status, (await ask("/explain")).status], [400, 400]);
});

test("another rule file is compared with past calls, and one that is not valid is refused", async (t) => {
  const { ask } = await start(t);
  const rules = JSON.stringify({ rules: [{ id: "x", decision: "deny", tools: ["shop.*"], reason: "No" }] });
  assert.deepEqual(simulationSchema.parse((await ask("/simulate", { rules })).body), {
    calls: 0,
    same: 0,
    changed: [],
    cannotTell: [],
  });
  const wrong = await ask("/simulate", { rules: '{"rules":[{"id":"x"}]}' });
  assert.deepEqual([wrong.status, /the proposed rules/.test(wrong.text)], [400, true]);
  assert.equal((await ask("/simulate", { rules: JSON.stringify({ rules: [RULES[0]] }) })).status, 400, "a taken id");
});

test("rules that match no tool are found", async (t) => {
  const { ask } = await start(t);
  const { findings } = lintSchema.parse((await ask("/lint")).body);
  assert.deepEqual(
    findings.map(({ rule, kind }) => [rule, kind]),
    [
      ["reads", "idle"],
      ["no-drop", "idle"],
    ],
  );
});

test("only an operator asks, and only rules of decisions are removed", async (t) => {
  const { send, identity, listener } = await start(t);
  await identity.people.add("rita", ["reviewer"], OPERATOR);
  const id = parsePrincipalId("person:rita");
  const rita = id && (await identity.resolve(id));
  assert.ok(rita);
  const { secret } = await identity.sessions.open(rita, "test");
  const headers = { cookie: `glovebox-${listener.port}=${secret}`, origin: `http://127.0.0.1:${listener.port}` };
  assert.equal((await send("/api/policy", { headers })).status, 403);
  const remove = async (rule: string) =>
    (await send(`/api/policy/rules/${rule}`, { method: "DELETE", headers: SESSION })).status;
  assert.deepEqual([await remove("reads"), await remove("none")], [404, 404]);
});
