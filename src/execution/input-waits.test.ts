/** Questions of servers that a program waits for in memory: listed while they wait, and due where no form can show them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { APPROVAL } from "../surfaces/mcp/fixtures/approval.ts";
import { createInputWaits } from "./input-waits.ts";

describe("input requests that wait in memory", () => {
  it("are listed as covered until they are settled", async () => {
    const waits = createInputWaits((approval) => ({ ...approval, reason: "[secret] leaves" }));
    const answered = Promise.withResolvers<string>();
    const waiting = waits.during(APPROVAL, undefined, () => answered.promise);
    assert.deepEqual(
      waits.list().map(({ id, reason }) => [id, reason]),
      [[APPROVAL.id, "[secret] leaves"]],
    );
    answered.resolve("Ada");
    assert.deepEqual([await waiting, waits.list()], ["Ada", []]);
  });
  it("are due after a while, and no longer when they are settled", async () => {
    const waits = createInputWaits((approval) => approval);
    const answered = Promise.withResolvers<void>();
    const waiting = waits.during(APPROVAL, 1, () => answered.promise);
    assert.equal(waits.due().aborted, false);
    await new Promise((due) => waits.due().addEventListener("abort", due));
    answered.resolve();
    await waiting;
    assert.equal(waits.due().aborted, false);
  });
  it("are never due for a client that shows them to its user", async () => {
    const waits = createInputWaits((approval) => approval);
    await waits.during(APPROVAL, undefined, () => sleep(20));
    await waits.during(APPROVAL, 60_000, () => sleep(1));
    assert.equal(waits.due().aborted, false);
  });
});
