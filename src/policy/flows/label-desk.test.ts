/** What an operator sees of labels, and what clearing them does in gateways that run. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { AGENT, EXECUTION, createTool, known, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parsePrincipalId } from "../../domain/index.ts";
import type { JsonObject, Principal } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import { createLabelDesk } from "./label-desk.ts";
import { FORGET_MS, openFlows } from "./open-flows.ts";

const OPERATOR: Principal = {
  id: known(parsePrincipalId("operator")),
  kind: "person",
  roles: ["operator"],
  groups: [],
};
const SECRET = createTool("files.secret", { labels: ["private"] });
const LABEL_MS = 1_000;
const WITNESS: Principal = { ...AGENT, id: known(parsePrincipalId("witness")) };
const inSession = (session: string): Principal => ({ ...AGENT, session, passesLabels: true });

async function openWorld(labelMs = LABEL_MS) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const world = { now: 10 };
  const records: JsonObject[] = [];
  const now = () => world.now;
  const record = async (entry: JsonObject): Promise<void> => void records.push(entry);
  const desk = createLabelDesk({ store, now, labelMs, record: (entry) => record({ ...entry }) });
  const flows = await openFlows({ settings: { flows: "ask", labelMs }, store, now, everyMs: 1 });
  const open = (principal: Principal) =>
    flows.open({ principal, execution: EXECUTION, snapshot: snapshotOf([SECRET]) });
  const read = async (principal: Principal): Promise<void> => {
    const arrival = open(principal).arrive();
    arrival.judge({ execution: EXECUTION, seq: 7, principal: AGENT.id, address: SECRET.address, args: {} }, SECRET);
    await arrival.deliver({ ok: true, json: "1" }, true);
  };
  const labelsOf = (principal: Principal) =>
    open(principal)
      .sources()
      .map(({ label }) => label);
  return {
    world,
    desk,
    records: () => records.filter(({ subject }) => subject !== WITNESS.id),
    read: (session: string) => read(inSession(session)),
    labelsOf: (session: string) => labelsOf(inSession(session)),
    /** Gateways follow everything that was cleared before together with what is cleared here. */
    followed: async (): Promise<void> => {
      await read(WITNESS);
      await desk.clear(WITNESS.id, OPERATOR);
      while (labelsOf(WITNESS).length > 0) await wait(1);
    },
    [Symbol.asyncDispose]: async () => {
      await flows[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

const SOURCE = { label: "private", tool: SECRET.address, execution: EXECUTION, seq: 7 } as const;

describe("the list of labels", () => {
  it("names the principal, the calls, the last labeled read and until when sessions inherit", async () => {
    await using world = await openWorld();
    assert.deepEqual(await world.desk.list(), []);
    await world.read("a");
    const held = { principal: AGENT.id, labels: [SOURCE], readAt: 10 };
    world.world.now = 10 + LABEL_MS - 1;
    assert.deepEqual(await world.desk.list(), [{ ...held, inheritedUntil: 10 + LABEL_MS }]);
    world.world.now = 10 + LABEL_MS;
    assert.deepEqual(await world.desk.list(), [held]);
    world.world.now = 10 + FORGET_MS;
    assert.deepEqual(await world.desk.list(), []);
  });
});

describe("clearing labels", () => {
  it("removes them from open sessions of the principal and from what new ones inherit, and is recorded", async () => {
    await using world = await openWorld();
    await world.read("a");
    assert.deepEqual([world.labelsOf("a"), world.labelsOf("b")], [["private"], ["private"]]);
    world.world.now = 20;
    assert.deepEqual(await world.desk.clear(AGENT.id, OPERATOR), [SOURCE]);
    await world.followed();
    assert.deepEqual([world.labelsOf("a"), world.labelsOf("b"), world.labelsOf("c")], [[], [], []]);
    assert.deepEqual(await world.desk.list(), []);
    const record = { actor: "operator", action: "labels.cleared", subject: AGENT.id, detail: { labels: [SOURCE] } };
    assert.deepEqual(world.records(), [record]);
  });

  it("leaves the labels of other principals", async () => {
    await using world = await openWorld();
    await world.read("a");
    await world.desk.clear(OPERATOR.id, OPERATOR);
    await world.followed();
    assert.deepEqual([world.labelsOf("a"), world.labelsOf("b")], [["private"], ["private"]]);
  });

  it("counts what is read later, also when it is read before the gateway follows", async () => {
    await using world = await openWorld();
    await world.read("a");
    await world.desk.clear(AGENT.id, OPERATOR);
    world.world.now = 11;
    await world.read("a");
    await world.followed();
    assert.deepEqual([world.labelsOf("a"), world.labelsOf("b")], [["private"], ["private"]]);
    assert.equal((await world.desk.list()).length, 1);
    world.world.now = 12;
    await world.desk.clear(AGENT.id, OPERATOR);
    await world.followed();
    assert.deepEqual([world.labelsOf("a"), world.labelsOf("c")], [[], []]);
  });

  it("refuses an agent and a service, and then changes and records nothing", async () => {
    await using world = await openWorld();
    await world.read("a");
    for (const kind of ["agent", "service"] as const)
      await assert.rejects(world.desk.clear(AGENT.id, { ...OPERATOR, kind }), { code: "POLICY_DENIED" });
    await world.followed();
    assert.deepEqual([world.labelsOf("a"), world.records()], [["private"], []]);
  });
});
