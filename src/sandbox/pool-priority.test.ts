/** Whose children start behind everybody else, and when one of them no longer does. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

import { gate, principal } from "./fixtures/gate.ts";
import { openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { Ending } from "./sandbox.ts";

function niceOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

/** Raising a priority again takes privileges. */
const skip = process.platform !== "linux" || process.getuid?.() !== 0;

it("a child that starts for a crowd starts behind, until somebody comes who has nothing else", { skip }, async () => {
  const { sandbox, pids, end } = await openTestSandbox({ concurrency: 6 });
  const [crowd, another, other] = [principal("crowd"), principal("another"), principal("other")];
  const gates = [gate(), gate()] as const;
  try {
    const held: Promise<Ending>[] = [];
    // Nothing is ready afterwards: whoever comes waits for a start.
    for (const [index, one] of [crowd, another].entries()) {
      const { host, reached } = gates[index] ?? assert.fail();
      held.push(end("return files.read()", { principal: one, host }));
      await reached;
    }
    const before = new Set(pids);
    const more = [1, 2, 3].map(() => end("return 1", { principal: crowd }));
    const starting = [...pids].filter((pid) => !before.has(pid));
    const nices = starting.map(niceOf);
    assert.ok(nices.length > 0 && nices.every((nice) => nice === 10), nices.join());
    const urgent = end("return 1", { principal: other });
    assert.deepEqual(
      starting.map(niceOf).toSorted((left, right) => left - right),
      [0, ...nices.slice(1)],
    );
    for (const { open } of gates) open();
    const endings = await Promise.all([...held, urgent, ...more]);
    assert.deepEqual(new Set(endings.map(({ kind }) => kind)), new Set(["returned"]));
  } finally {
    await sandbox.close();
  }
});
