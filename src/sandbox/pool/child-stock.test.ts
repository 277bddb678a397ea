/** Children between two programs: one that is slow gets time, and one that is stuck is replaced. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { openTestSandbox } from "../fixtures/test-sandbox.ts";

const file = fileURLToPath(import.meta.resolve("../fixtures/hasty-child.ts"));

/** Runs one program and then another in a pool with one place. Returns the child of each. */
async function runBoth(first: string, second: string): Promise<readonly unknown[]> {
  const { sandbox, end, pids } = await openTestSandbox({
    concurrency: 1,
    engine: {
      name: "isolate",
      isolation: "process",
      layers: [],
      readiness: undefined,
      contained: undefined,
      command: () => ({ file: process.execPath, args: [file] }),
    },
  });
  await using _closing = sandbox;
  const children: unknown[] = [];
  for (const program of [first, second]) {
    assert.equal((await end(program)).kind, "returned");
    children.push([...pids].at(-1));
  }
  return children;
}

describe("a child between two programs", () => {
  it("keeps a child that sleeps before it is ready for the next program", async () => {
    const [first, second] = await runBoth("tired", "fine");
    assert.equal(second, first);
  });
  it("replaces a child that computes instead of preparing for the next program", async () => {
    const [first, second] = await runBoth("endless", "fine");
    assert.notEqual(second, first);
  });
});
