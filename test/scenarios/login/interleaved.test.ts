/**
 * Two people and three agents at once: no record, handle, label, execution, key or approval of one reaches another.
 * `INTERLEAVED_CALLS=10000` makes as many calls.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { parseSettings } from "../../../src/config/index.ts";
import { defineAdapter } from "../../../src/connectors/index.ts";
import type { ExecutionResult, Principal } from "../../../src/domain/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { openGateway } from "../../../src/open-gateway.ts";
import { openStore } from "../../../src/store/index.ts";

const CALLS = Number(process.env["INTERLEAVED_CALLS"] ?? 2_000);
const CALLS_PER_PROGRAM = 90;
const READ = "read" as const;
/** For all further calls of this tool of the agent. */
const APPROVE = { verdict: "approve", scope: "session-tool" } as const;

const desk = defineAdapter({
  name: "desk",
  tools: {
    echo: {
      description: "Returns its arguments.",
      input: { type: "object" },
      effect: READ,
      run: async (args) => {
        await turn(); // so that calls of different programs alternate
        return args;
      },
    },
    diary: { description: "Private.", input: { type: "object" }, effect: READ, run: () => ({ text: "dear diary" }) },
    pay: { description: "Pays.", input: { type: "object" }, effect: "destroy" as const, run: (args) => args },
  },
});

/** Each call carries the name of its agent; the value is too large to be returned, so it is kept under a handle. */
const PROGRAM = `const calls = Array.from({ length: ${CALLS_PER_PROGRAM} }, (_, n) => desk.echo({ who: input.who, n }));
const answers = await Promise.all(calls);
if (answers.some(({ who, n }, at) => who !== input.who || n !== at)) throw new Error("crossed");
if (input.reads) await desk.diary({});
return answers.map(({ n }) => input.who + " " + n + " ".repeat(200));`;
const PAY = "return await desk.pay({ who: input.who })";

test("two people and three agents at once: nothing of one reaches another", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-interleaved-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = parseSettings(
    {
      adapters: [desk],
      analysis: { types: "off" },
      approvals: { graceMs: 0 },
      policy: { labels: [{ tools: ["desk.diary"], add: ["private"] }] },
      quotas: { executionsPerMinute: 0 },
      sandbox: { limits: { outputBytes: 2_000 } },
      store: { url: `sqlite:${join(folder, "glovebox.db")}` },
    },
    { folder },
    {},
  );
  await using gateway = await openGateway(settings, { lasting: true });
  const { people, tokens, resolve, verify } = gateway.identity;
  for (const name of ["ada", "bob"]) await people.add(name, ["agent"], OPERATOR);
  const agents: Principal[] = [];
  for (const [name, person] of [
    ["editor", "ada"],
    ["crawler", "ada"],
    ["helper", "bob"],
  ] as const) {
    const behind = (await resolve(`person:${person}` as Principal["id"]))?.id;
    assert.ok(behind);
    const made = await tokens.create({ name, scopes: ["execute"], person: behind }, OPERATOR);
    const verified = await verify({ text: made.token, origin: "", resource: "" });
    assert.ok(verified);
    agents.push(verified.principal);
  }
  const [editor, crawler, helper] = agents as [Principal, Principal, Principal];
  const results = new Map<Principal, ExecutionResult[]>(agents.map((agent) => [agent, []]));
  const runAll = async (principal: Principal, programs: number): Promise<void> => {
    for (let at = 0; at < programs; at += 1) {
      const input = { who: principal.id, reads: principal === editor };
      // The same keys for all: a key belongs to its principal.
      const result = await gateway.execute({ principal, source: PROGRAM, input, idempotencyKey: `key-${at}` });
      assert.equal(result.state, "completed", JSON.stringify(result.error));
      results.get(principal)?.push(result);
    }
  };
  const programs = Math.ceil(CALLS / CALLS_PER_PROGRAM / agents.length);
  await Promise.all(agents.map((agent) => runAll(agent, programs)));
  const paying = await Promise.all(
    agents.map((principal) => gateway.execute({ principal, source: PAY, input: { who: principal.id } })),
  );

  const ids = [...results.values()].flat().map(({ execution }) => execution);
  assert.equal(new Set(ids).size, programs * agents.length);
  for (const [owner, own] of results)
    for (const { truncated, execution, labels = [] } of own) {
      assert.ok(truncated);
      assert.equal(
        labels.some(({ label }) => label === "private"),
        owner === editor,
      );
      for (const viewer of agents) {
        const handle: unknown = await gateway.readResult(viewer, truncated.handle, {}).catch(() => undefined);
        const view: unknown = await gateway.view({ principal: viewer, execution, waitMs: 0 }).catch(() => undefined);
        const isOwn = viewer === owner;
        assert.deepEqual([handle !== undefined, view !== undefined], [isOwn, isOwn], `${viewer.id} and ${owner.id}`);
        if (isOwn) assert.match(JSON.stringify(handle), new RegExp(`${owner.id} 0`));
      }
    }
  assert.deepEqual(
    paying.map(({ state }) => state),
    ["paused", "paused", "paused"],
  );
  const waiting = await gateway.approvals.list({ isPending: true }, OPERATOR);
  assert.deepEqual(
    waiting.map(({ principal, args }) => `${principal} ${JSON.stringify(args)}`).toSorted(),
    [crawler, editor, helper].map(({ id }) => `${id} {"who":"${id}"}`),
  );
  await gateway.approvals.decide(waiting.find(({ principal }) => principal === helper.id)?.id ?? "", APPROVE, OPERATOR);
  const states = async () =>
    Promise.all(
      paying.map(async ({ execution }, at) => {
        const principal = agents[at] ?? editor;
        return (await gateway.view({ principal, execution, waitMs: 2_000 })).state;
      }),
    );
  let now = await states();
  while (now[2] !== "completed") now = await states();
  assert.deepEqual(now, ["paused", "paused", "completed"]);

  await using store = await openStore({ path: settings.store.path, now: Date.now });
  const owners = new Map([...results].flatMap(([{ id }, own]) => own.map(({ execution }) => [execution, id] as const)));
  let counted = 0;
  for (const [execution, owner] of owners) {
    const records = await store.ledger.search({ execution, action: "call.intended", limit: 500 });
    counted += records.length;
    assert.ok(records.every(({ actor, detail }) => actor === owner && detail.includes(execution)));
  }
  assert.ok(counted >= CALLS, `${counted} calls were recorded`);
});
