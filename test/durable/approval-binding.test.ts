/**
 * An approval binds: neither another process, nor lost labels, nor other rules let a call through that needed approval.
 */

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
/** A session of one process: no other process has its labels. */
const principal = { ...AGENT, session: "of this process" };

/**
 * Suspends `shop.pay` under one policy. Returns functions that decide about it and that resume it under another policy.
 */
async function suspendCall(context: TestContext, before: object, after: object = before) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bound-"));
  const shop = await openShopServer();
  context.after(async () => {
    await shop[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, "shop.json"), JSON.stringify(describeShop("first")));
  const openapi = { shop: { document: "shop.json", baseUrl: shop.origin, headers: { "X-Folder": folder } } };
  const store = { url: "sqlite:./.glovebox/glovebox.db" };
  const settingsOf = (policy: object): Settings =>
    parseSettings(
      { mcpServers: {}, openapi, policy, analysis: { types: "off" }, approvals: { graceMs: 0 }, store },
      { folder },
      {},
    );
  const first = await openGateway(settingsOf(before), { lasting: true });
  await first.execute({ principal, source: "await shop.look({ n: 1 })" });
  const paused = await first.execute({ principal, source: "return (await shop.pay({ n: 2 })).n" });
  assert.equal(paused.state, "paused", JSON.stringify(paused.error));
  await first.close();
  const decide = (verdict: "approve" | "reject"): Promise<unknown> =>
    withQueue(settingsOf(after), ({ approvals }) =>
      approvals.decide(paused.approvals?.[0] ?? assert.fail(), { verdict }, OPERATOR),
    );
  const resume = async () => {
    await using gateway = await openGateway(settingsOf(after), { lasting: true });
    const { state, error } = await waitForState(gateway, paused.execution, "completed", "failed");
    return [state, error?.code, shop.requestsOf(folder).received.filter((call) => call.startsWith("pay"))];
  };
  return { decide, resume };
}

describe("a call that needed approval", () => {
  for (const [name, before, after] of [
    ["from the data-flow guard, in a session of another process,", GUARDED, GUARDED],
    ["from a rule that was removed", ASKED, OPEN],
  ] as const) {
    test(`a call that needed approval ${name} is not made after a rejection`, async (context) => {
      const { decide, resume } = await suspendCall(context, before, after);
      await decide("reject");
      assert.deepEqual(await resume(), ["failed", "POLICY_APPROVAL_REJECTED", []]);
    });
    test(`a call that needed approval ${name} is made once after an approval`, async (context) => {
      const { decide, resume } = await suspendCall(context, before, after);
      await decide("approve");
      assert.deepEqual(await resume(), ["completed", undefined, ["pay 2"]]);
    });
  }
});
