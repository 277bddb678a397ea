/** Which records of the ledger are calls that rules could have decided, and what is read out of them. */

import assert from "node:assert/strict";
import { it } from "node:test";

import type { JsonObject } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { readPastCalls } from "./review-policy.ts";

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

it("readPastCalls counts a call once that was approved, or that asked again after a restart", async () => {
  const asked = { effect: "destroy", server: "shop", decision: "ask", rule: "profile:balanced", execution: "ex_1" };
  const toRecord = (detail: JsonObject): JsonObject => ({ ...record("", ""), detail });
  async function* twice() {
    yield toRecord({ ...asked, seq: 1 });
    yield toRecord({ ...asked, seq: 1 });
    yield toRecord({ ...asked, seq: 1, decision: "allow", approval: "ap_1" });
    yield toRecord({ ...asked, seq: 2 });
  }
  const calls = await readPastCalls({ records: twice }, 0);
  assert.deepEqual(
    calls.map(({ decision }) => decision),
    ["ask", "ask"],
  );
});

it("readPastCalls reads arguments out of a preview only if it has their digest", async () => {
  const text = '{"path":"/a"}';
  const toRecord = (more: JsonObject): JsonObject => ({
    ...record("", ""),
    detail: { effect: "write", server: "shop", decision: "allow", rule: "", ...more },
  });
  async function* previews() {
    yield toRecord({ arguments: digestOf(text), preview: text });
    yield toRecord({ arguments: digestOf(`${text} `), preview: text });
    yield toRecord({ arguments: digestOf(text) });
  }
  const calls = await readPastCalls({ records: previews }, 0);
  assert.deepEqual(
    calls.map(({ args }) => args),
    [{ path: "/a" }, undefined, undefined],
  );
});
