/** The ledger over HTTP: who may read it, what is found, whether it is intact, and its export. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openOperatorDoor } from "../../../test/fixtures/operator-door.ts";
import { parseLedgerLine, verifyExport } from "../../ledger/index.ts";
import { OPERATOR } from "../../identity/index.ts";
import { parseSecretName } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import { createMemoryGateway } from "../mcp/fixtures/memory-gateway.ts";
import { proofSchema } from "./contract/ledger.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

async function* eachLine(text: string): AsyncIterable<unknown> {
  for (const line of text.trim().split("\n")) yield parseLedgerLine(line);
}

test("filters reach the search as they are, and a wrong one is refused", async (t) => {
  const asked: object[] = [];
  const records = async (query: object) => (asked.push(query), []);
  const { send } = await startApp(t, undefined, { records });
  const ask = async (query: string) => (await send(`/api/ledger${query}`, { headers: SESSION })).status;
  const execution = `ex_${"0".repeat(24)}`;
  assert.equal(
    await ask(`?limit=5&before=9&actor=ada&action=call&outcome=ok&since=1&until=2&execution=${execution}`),
    200,
  );
  assert.deepEqual(asked, [
    { limit: 5, before: 9, actor: "ada", action: "call", outcome: "ok", since: 1, until: 2, execution },
  ]);
  assert.deepEqual(
    [await ask("?limit=201"), await ask("?limit=200"), await ask("?execution=1"), await ask("?other=1")],
    [400, 200, 400, 400],
  );
});

test("a verification runs once, reports its end, and an export verifies without the gateway", async (t) => {
  const operator = await openOperatorDoor(t);
  const name = parseSecretName("A");
  assert.ok(name);
  await (await operator.openRecords()).vault.set(name, new Secret("value"), "ada");
  const { send, identity } = await startApp(t, undefined, {}, { operator });
  const ask = async (method: string) => {
    const { status, body } = await send("/api/ledger/proof", {
      method,
      headers: SESSION,
      ...(method === "POST" && { body: "{}" }),
    });
    return status === 200 ? proofSchema.parse(JSON.parse(body)) : status;
  };
  assert.deepEqual(await ask("GET"), {});
  const [first, second] = [await ask("POST"), await ask("POST")];
  assert.ok(typeof first === "object" && typeof second === "object");
  assert.ok(first.running);
  let proof = second;
  while (proof.running) proof = proofSchema.parse(await ask("GET"));
  assert.deepEqual([proof.last?.verdict.ok, proof.last?.by], [true, "operator"]);
  const { status, body, headers } = await send("/api/ledger/export", { headers: SESSION });
  assert.match(String(headers["content-disposition"]), /^attachment; filename="glovebox-ledger-\d+\.jsonl"$/);
  assert.deepEqual([status, (await verifyExport(eachLine(body))).ok], [200, true]);
  assert.equal((await verifyExport(eachLine(body.replace('"actor":"', '"actor":"not ')))).ok, false);

  const bearer = async (scopes: readonly string[]) => {
    const name = scopes.join("-").replaceAll(":", "-");
    const { token } = await identity.tokens.create({ name, scopes }, OPERATOR);
    return (await send("/api/ledger/export", { headers: { authorization: `Bearer ${token}` } })).status;
  };
  assert.deepEqual([await bearer(["ledger:read"]), await bearer(["execute", "search"])], [200, 403]);
});

test("an export is refused to people who may not see the arguments in it", async (t) => {
  const operator = await openOperatorDoor(t, { audit: { previews: true } });
  const approvals = { ...createMemoryGateway().approvals, showsArguments: () => false };
  const status = async (settings: object) => {
    const { send } = await startApp(t, undefined, { approvals }, { operator: { ...operator, ...settings } });
    return (await send("/api/ledger/export", { headers: SESSION })).status;
  };
  assert.equal(await status({}), 403);
  assert.equal(await status({ settings: (await openOperatorDoor(t)).settings }), 200);
});
