/** What the ledger keeps of a call beside digests: previews if they are on, and the first call beyond the limit. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { openTestBridge } from "../../test/fixtures/bridge/test-bridge.ts";

const detailsOf = (records: readonly JsonObject[]): readonly unknown[] =>
  records.map(({ action, detail }) => [action, (detail as { preview?: string }).preview]);

test("a call is decided and its intent handed to the ledger in the turn in which it arrives, unless it waits for a slot", async () => {
  const { bridge, steps } = await openTestBridge({ limits: { concurrentCalls: 1 } });
  const calls = [bridge.call("files.read", "{}"), bridge.call("files.read", "{}")];
  assert.deepEqual(steps, ["decide", "write call.intended"]);
  assert.deepEqual(
    (await Promise.all(calls)).map(({ ok }) => ok),
    [true, true],
  );
  assert.equal(steps.filter((step) => step === "invoke").length, 2);
});

test("records hold previews of arguments and results only if previews are on", async () => {
  for (const [wanted, expected] of [
    [true, ['<{"a":1}>', '<{"ok":true}>']],
    [false, [undefined, undefined]],
  ] as const) {
    const options = wanted ? { preview: (text: string) => `<${text}>` } : {};
    const { bridge, ledger } = await openTestBridge(options);
    await bridge.call("files.read", '{"a":1}');
    await bridge.recorded();
    assert.deepEqual(detailsOf(await ledger()), [
      ["call.intended", expected[0]],
      ["call.ended", expected[1]],
    ]);
  }
});

test("only the first call beyond the limit is recorded", async () => {
  const { bridge, ledger } = await openTestBridge({ limits: { ...DEFAULT_LIMITS, calls: 1 } });
  const replies = await Promise.allSettled(
    ["a", "b", "c"].map((path) => bridge.call("files.read", JSON.stringify({ path }))),
  );
  assert.deepEqual(
    replies.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected"],
  );
  await bridge.recorded();
  const refused = (await ledger()).filter(({ action }) => action === "call.refused");
  assert.deepEqual(
    refused.map(({ subject, detail }) => [subject, (detail as JsonObject)["seq"], (detail as JsonObject)["code"]]),
    [["files.read", 2, "LIMIT_CALLS"]],
  );
});
