/** Which records of the ledger are calls that rules could have decided, and what is read out of them. */

import assert from "node:assert/strict";
import { it } from "node:test";

import type { JsonObject } from "../../domain/index.ts";
import { readPastCalls } from "./policy-commands.ts";

const record = (rule: string, decision: string): JsonObject => {
  const detail = { effect: "write", server: "shop-server", decision, rule };
  return { at: 5, actor: "agent", action: "call.intended", subject: "shop.pay", detail };
};

async function* records() {
  yield record("flow:private+untrusted>external", "deny");
  yield record("house", "deny");
  yield record("builtin", "allow");
}

it("readPastCalls separates decisions of rules from those of the data-flow guard and skips builtin calls", async () => {
  const call = { principal: "agent", tool: "shop.pay", server: "shop-server", effect: "write", decision: "deny" };
  assert.deepEqual(await readPastCalls({ records }, 5), [
    { ...call, byGuard: true },
    { ...call, byGuard: false },
  ]);
  assert.deepEqual(await readPastCalls({ records }, 6), []);
});
