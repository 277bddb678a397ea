/** The other half of the programs of `first-half.test.ts`, killed at other moments. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PROGRAMS, killPart } from "./kill-batches.ts";

test(`the second ${PROGRAMS} programs in killed gateways return the same and change nothing twice`, async (context) => {
  const { counts, wrong } = await killPart(1);
  context.diagnostic(
    JSON.stringify(Object.fromEntries([...counts].toSorted(([one], [other]) => one.localeCompare(other)))),
  );
  assert.deepEqual(wrong, []);
});
