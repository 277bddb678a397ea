/**
 * Generated programs in real gateways that are killed with SIGKILL again and again, at every step, until every program
 * has ended: nothing is lost, nothing is done twice, and what completes is what it is undisturbed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PROGRAMS, killPart } from "./kill-batches.ts";

test(`${PROGRAMS} programs in gateways that are killed come to the same, and change nothing twice`, async (context) => {
  const { counts, wrong } = await killPart(0);
  context.diagnostic(
    JSON.stringify(Object.fromEntries([...counts].toSorted(([one], [other]) => one.localeCompare(other)))),
  );
  assert.deepEqual(wrong, []);
});
