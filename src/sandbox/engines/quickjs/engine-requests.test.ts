/** A program that only handles answers stays where it is, and one that computes asks for the other engine. */

import assert from "node:assert/strict";
import test from "node:test";

import { SWITCH_TO_COMPUTE } from "../../wire.ts";
import { EngineRequests } from "./engine-requests.ts";

const AFTER_MS = 4;

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Computes until the program may ask, and returns what it asked for and the processor time it had used. */
function computeAfter(messages: number): { readonly asked: readonly string[]; readonly usedMs: number } {
  const asked: string[] = [];
  const requests = new EngineRequests((reason) => {
    asked.push(reason);
    return { kind: "end" };
  });
  const before = threadMs();
  requests.start({ afterMs: AFTER_MS });
  for (let message = 0; message < messages; message += 1) requests.exchange();
  while (!requests.isEnded) requests.interrupt();
  return { asked, usedMs: threadMs() - before };
}

test("a program without calls asks for the other engine once it has computed for the given time", () => {
  const { asked, usedMs } = computeAfter(0);
  assert.deepEqual(asked, [SWITCH_TO_COMPUTE]);
  assert.ok(usedMs >= AFTER_MS);
});

test("a program with many messages asks later, by a tenth of a millisecond for each", () => {
  const { asked, usedMs } = computeAfter(1_000);
  assert.deepEqual(asked, [SWITCH_TO_COMPUTE]);
  assert.ok(usedMs >= AFTER_MS + 100);
});
