/** `kill -9` of a working gateway: nothing that it acknowledged is lost, and every execution gets an end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openKillLoop } from "../../fixtures/kill-under-load.ts";

/** `npm run soak:kill` kills more. */
const ROUNDS = 4;
const LATEST_MS = 300;

test(
  `${ROUNDS} gateways killed at random moments lose nothing that they acknowledged`,
  { timeout: 600_000 },
  async (context) => {
    const place = openKillLoop();
    context.after(() => place.remove());
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const result = await place.round(Math.random() * LATEST_MS);
      assert.deepEqual(result.wrong, []);
      acknowledged += result.acknowledged;
    }
    assert.deepEqual(await place.finish(), []);
    assert.ok(acknowledged >= ROUNDS / 2, `only ${acknowledged} executions were acknowledged at all`);
  },
);
