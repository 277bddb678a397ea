/**
 * Runs generated programs in real gateways that are killed with SIGKILL repeatedly, at every step, until every program
 * has ended. Nothing is lost, nothing is repeated, and completed programs return the same as undisturbed ones.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PROGRAMS, killPart } from "./kill-batches.ts";

test(`the first ${PROGRAMS} programs in killed gateways return the same and change nothing twice`, async (context) => {
  const { counts, wrong } = await killPart(0);
  context.diagnostic(
    JSON.stringify(Object.fromEntries([...counts].toSorted(([one], [other]) => one.localeCompare(other)))),
  );
  assert.deepEqual(wrong, []);
});
