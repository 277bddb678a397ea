/** The opening of an execution whose process died before the ledger had it is recorded later, and once. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { digestOf } from "../text/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { DEFAULT_LIMITS, parseExecutionId, parsePrincipalId } from "../domain/index.ts";
import { openStore } from "../store/index.ts";

import { readTrail, recordOpeningOnce } from "./ledger-trail.ts";

const id = parseExecutionId(`ex_${"0".repeat(24)}`) ?? assert.fail();
const agent = parsePrincipalId("agent") ?? assert.fail();
const EXECUTION = { id, principal: agent, source: digestOf("return 1"), startedAt: 1 };
const REQUEST = {
  principal: { id: agent, kind: "agent", groups: [] },
  source: "return 1",
  limits: DEFAULT_LIMITS,
} as const;

for (const [what, dryRun] of [
  ["a run", false],
  ["a dry run", true],
] as const)
  it(`recordOpeningOnce writes the missing opening of ${what} once`, async () => {
    const store = await openStore({ path: ":memory:", now: () => 0 });
    const ledger = await openLedger({ store, now: () => 0 });
    const recording = { request: { ...REQUEST, dryRun }, deliveries: [], isWhole: true };
    const deps = { journals: { read: async () => recording }, ledger };
    for (let start = 1; start <= 2; start += 1) {
      await recordOpeningOnce(EXECUTION, await readTrail(id, { store }), deps);
    }
    const found = await store.ledger.search({ execution: id, limit: 9 });
    assert.deepEqual(
      found.map(({ action, detail }) => [action, detail]),
      [["execution.opened", JSON.stringify({ ...(dryRun && { dryRun }), late: true, source: EXECUTION.source })]],
    );
    await ledger.close();
    await store.close();
  });
