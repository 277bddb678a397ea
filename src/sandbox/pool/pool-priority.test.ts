/** Which children start with a low priority, and when it is restored. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { ConfinedEngine } from "../engine.ts";
import { INFO_DESCRIPTOR } from "../engine.ts";
import type { ChildCommand } from "../engine.ts";
import { gate, principal } from "../fixtures/gate.ts";
import { openTestSandbox } from "../fixtures/test-sandbox.ts";
import type { ProgramEnding } from "../sandbox.ts";

function niceOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

const usual = niceOf(process.pid);
/** Restoring a priority takes privileges. */
const skip = process.platform !== "linux" || process.getuid?.() !== 0;

it(
  "starts a child for a principal that has others with low priority, until a principal without any waits",
  { skip },
  async () => {
    const { sandbox, pids, end } = await openTestSandbox({ concurrency: 6 });
    const [crowd, another, other] = [principal("crowd"), principal("another"), principal("other")];
    const gates = [gate(), gate()] as const;
    try {
      const held: Promise<ProgramEnding>[] = [];
      // No child is idle afterwards: the next request waits for a start.
      for (const [index, one] of [crowd, another].entries()) {
        const { host, reached } = gates[index] ?? assert.fail();
        held.push(end("return files.read()", { principal: one, host }));
        await reached;
      }
      const before = new Set(pids);
      const more = [1, 2, 3].map(() => end("return 1", { principal: crowd }));
      const starting = [...pids].filter((pid) => !before.has(pid));
      const nices = starting.map(niceOf);
      assert.ok(nices.length > 0 && nices.every((nice) => nice === Math.max(10, usual)), nices.join());
      const urgent = end("return 1", { principal: other });
      assert.deepEqual(
        starting.map(niceOf).toSorted((left, right) => left - right),
        [usual, ...nices.slice(1)],
      );
      for (const { open } of gates) open();
      const endings = await Promise.all([...held, urgent, ...more]);
      assert.deepEqual(new Set(endings.map(({ kind }) => kind)), new Set(["returned"]));
    } finally {
      await sandbox.close();
    }
  },
);

const HASTY_CHILD = fileURLToPath(import.meta.resolve("../fixtures/hasty-child.ts"));
/** No process has such a pid, so no priority can be restored. */
const NO_PROCESS = 2 ** 22 + 1;
const UNRAISABLE = `echo '{"child-pid": ${NO_PROCESS}}' >&${INFO_DESCRIPTOR}; exec "$0" "$1"`;

/** Children whose priority cannot be changed, as on a machine without the privileges for it. */
function createUnraisableEngine(): ConfinedEngine {
  const args = ["-c", UNRAISABLE, process.execPath, HASTY_CHILD];
  const command = (): ChildCommand => ({ file: "/bin/sh", args, reportsPid: true });
  return { name: "isolate", isolation: "process", layers: [], readiness: undefined, contained: undefined, command };
}

it("ends a child whose priority cannot be restored, and starts no spare children then", async () => {
  const { sandbox, pids, end } = await openTestSandbox({ concurrency: 6, engine: createUnraisableEngine() });
  const crowd = principal("crowd");
  try {
    await end("fine", { principal: principal("other") });
    const before = new Set(pids);
    assert.equal(before.size, 1);
    const endings = [end("fine", { principal: crowd }), end("fine", { principal: crowd })];
    const [behind = 0] = [...pids].filter((pid) => !before.has(pid));
    assert.ok(behind > 0);
    assert.deepEqual(new Set((await Promise.all(endings)).map(({ kind }) => kind)), new Set(["returned"]));
    while (pids.has(behind)) await sleep(5);
    assert.deepEqual(new Set(pids), before);
  } finally {
    await sandbox.close();
  }
});
