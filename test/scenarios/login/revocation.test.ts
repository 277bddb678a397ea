/** What ends when a credential ends: two gateways on one store, in this process. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { ExecutionResult, Principal } from "../../../src/domain/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import type { openGateway } from "../../../src/open-gateway.ts";
import { openStore } from "../../../src/store/index.ts";
import { openDurableGateways, waitForPending } from "../../fixtures/durable-gateway.ts";
import type { ShopRequests } from "../../fixtures/shop-server.ts";

type OpenGateway = Awaited<ReturnType<typeof openGateway>>;

async function start(t: TestContext) {
  const durable = await openDurableGateways();
  t.after(() => durable[Symbol.asyncDispose]());
  const [here, there] = (await Promise.all([durable.open(), durable.open()])) as [OpenGateway, OpenGateway];
  const { people, tokens } = here.identity;
  await people.add("root", ["operator"], OPERATOR);
  for (const name of ["ada", "bob"]) await people.add(name, ["agent"], OPERATOR);
  const create = async (name: string, person: string) => {
    const behind = (await here.identity.resolve(`person:${person}` as Principal["id"]))?.id;
    assert.ok(behind);
    const { token, summary } = await tokens.create({ name, scopes: ["execute"], person: behind }, OPERATOR);
    const verified = await here.identity.verify({ text: token, origin: "", resource: "" });
    assert.ok(verified);
    return { id: summary.id, token, principal: verified.principal };
  };
  const store = await openStore({ path: durable.settings.store.path, now: Date.now });
  t.after(() => store.close());
  return { durable, here, there, people, tokens, create, store };
}

/** Starts a program whose call is answered on release. Resolves once the call has arrived. */
async function hold(gateway: OpenGateway, principal: Principal, shop: ShopRequests) {
  const n = shop.received.length;
  const release = shop.hold(`put ${n}`);
  const done = gateway.execute({ principal, source: `return (await shop.put({ n: ${n} })).n` });
  await shop.waitForRequest(`put ${n}`);
  return { done, release };
}

const wasCancelled = ({ state, error }: ExecutionResult): readonly unknown[] => [state, error?.code];
const CANCELLED = ["cancelled", "REQUEST_CANCELLED"];

test("a revoked token, a removed person and a lost role end what runs in every gateway, with a record", async (t) => {
  const { durable, here, there, people, tokens, create, store } = await start(t);
  const ends: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
    ["token", (id) => here.identity.tokens.revoke(id, OPERATOR)],
    // As in a process that was killed before it asked for the end, or that did not see an execution open meanwhile.
    ["crash", (id) => store.identity.revokeToken(id, { at: Date.now(), by: "operator" })],
    ["role", () => people.setRoles("ada", ["reviewer"], OPERATOR)],
    ["person", () => people.remove("ada", OPERATOR)],
  ];
  const bob = await create("bystander", "bob");
  const spared = await hold(there, bob.principal, durable.shop);
  for (const [name, end] of ends) {
    if (name === "person") await people.setRoles("ada", ["agent"], OPERATOR);
    const ada = await create(name, "ada");
    const held = await hold(there, ada.principal, durable.shop);
    await end(ada.id);
    const ended = await held.done;
    assert.deepEqual(wasCancelled(ended), CANCELLED, name);
    const records = await store.ledger.search({ action: "execution.cancelled", subject: ended.execution, limit: 9 });
    assert.match(records.map(({ detail }) => detail).join(), new RegExp(`token:${name} is no longer valid`));
    assert.equal(await there.identity.verify({ text: ada.token, origin: "", resource: "" }), undefined);
    held.release();
  }
  spared.release();
  assert.equal((await spared.done).state, "completed");
  assert.equal((await tokens.list()).filter(({ revokedAt }) => revokedAt === undefined).length, 1);
});

test("a suspended execution of a removed person is closed and its approval withdrawn, and that of another stays", async (t) => {
  const { durable, here, people, create, store } = await start(t);
  const pay = "return (await shop.pay({ n: 1 })).n";
  const [ada, bob] = [await create("hers", "ada"), await create("his", "bob")];
  const ids: string[] = [];
  for (const { principal } of [ada, bob]) {
    const { state, execution } = await here.execute({ principal, source: pay });
    assert.equal(state, "paused");
    ids.push(execution);
  }
  const approvals = await durable.openApprovals();
  await waitForPending(approvals, 2);
  await people.remove("ada", OPERATOR);
  const stateOf = async (id: string) =>
    (await store.executions.list({ limit: 9 })).find((one) => one.id === id)?.ending;
  const ended = async () => (await stateOf(ids[0] ?? ""))?.errorCode;
  while ((await ended()) === undefined) await wait(50);
  assert.equal(await ended(), "POLICY_DENIED");
  const [left, ...more] = await approvals.list({ isPending: true });
  assert.deepEqual([left?.execution, more.length], [ids[1], 0]);
  assert.deepEqual(durable.shop.received, []);
  assert.equal((await stateOf(ids[1] ?? ""))?.state, "paused");
});
