/** Questions bind: neither another process, nor forgotten labels, nor other rules let a call through that was asked about. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { parseSettings } from "../../src/config/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { openGateway } from "../../src/open-gateway.ts";
import { withQueue } from "../fixtures/approval-gateway.ts";
import { describeShop, openShopServer } from "../fixtures/shop-server.ts";
import { AGENT, OPERATOR, waitForState } from "../fixtures/durable-gateway.ts";

const LABELS = [
  { tools: ["shop.look"], add: ["private", "untrusted"] },
  { tools: ["shop.pay"], add: ["external"] },
];
const GUARDED = { flows: "ask", labels: LABELS };
const ASKED = { flows: "allow", rules: [{ id: "people", decision: "ask", tools: ["shop.pay"] }] };
const OPEN = { flows: "allow", profile: "open" };
/** A session of one process: no other knows what it has read. */
const principal = { ...AGENT, session: "of this process" };

/** Puts `shop.pay` away under one policy; answers how to decide about it, and how it goes on under another. */
async function putAway(context: TestContext, before: object, after: object = before) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bound-"));
  const shop = await openShopServer();
  context.after(async () => {
    await shop[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, "shop.json"), JSON.stringify(describeShop("first")));
  const openapi = { shop: { document: "shop.json", baseUrl: shop.origin, headers: { "X-Folder": folder } } };
  const settingsOf = (policy: object): Settings =>
    parseSettings({ mcpServers: {}, openapi, policy, approvals: { graceMs: 0 } }, { folder }, {});
  const first = await openGateway(settingsOf(before), { lasting: true });
  await first.execute({ principal, code: "await shop.look({ n: 1 })" });
  const paused = await first.execute({ principal, code: "return (await shop.pay({ n: 2 })).n" });
  assert.equal(paused.state, "paused", JSON.stringify(paused.error));
  await first.close();
  const decide = (verdict: "approve" | "reject"): Promise<unknown> =>
    withQueue(settingsOf(after), ({ approvals }) =>
      approvals.decide(paused.approvals?.[0] ?? assert.fail(), { verdict }, OPERATOR),
    );
  const goOn = async () => {
    await using gateway = await openGateway(settingsOf(after), { lasting: true });
    const { state, error } = await waitForState(gateway, paused.execution, "completed", "failed");
    return [state, error?.code, shop.requestsOf(folder).received.filter((call) => call.startsWith("pay"))];
  };
  return { decide, goOn };
}

describe("a call that a person was asked about", () => {
  for (const [name, before, after] of [
    ["by the data-flow guard, in a session that the next process does not know", GUARDED, GUARDED],
    ["by a rule that is gone", ASKED, OPEN],
  ] as const) {
    test(`${name}, is not made when the answer was no`, async (context) => {
      const { decide, goOn } = await putAway(context, before, after);
      await decide("reject");
      assert.deepEqual(await goOn(), ["failed", "POLICY_APPROVAL_REJECTED", []]);
    });
    test(`${name}, is made once when the answer was yes`, async (context) => {
      const { decide, goOn } = await putAway(context, before, after);
      await decide("approve");
      assert.deepEqual(await goOn(), ["completed", undefined, ["pay 2"]]);
    });
  }
});
