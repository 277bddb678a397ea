/** How many children start before the first program. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openTestSandbox } from "../fixtures/test-sandbox.ts";

/** Longer than a pool takes to start its first child. */
const RESTED_MS = 150;

describe("the warm reserve", () => {
  it("starts no child before the first program with a reserve of none, and one for that program", async () => {
    const { sandbox, pids, end } = await openTestSandbox({ warm: 0 });
    await using _ = sandbox;
    await sleep(RESTED_MS);
    assert.equal(pids.size, 0);
    assert.equal((await end("return 1")).kind, "returned");
  });
  it("starts one child before the first program by default", async () => {
    const { sandbox, pids } = await openTestSandbox({});
    await using _ = sandbox;
    while (pids.size === 0) await sleep(10);
    assert.equal(pids.size, 1);
  });
});
