/** Generated programs, interrupted at every step and resumed: they return the same bytes and repeat no call. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import { openTestSandbox } from "../../src/sandbox/fixtures/test-sandbox.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { findDifferences, recordRun } from "./interrupt-program.ts";
import { makeProgram, numbersFrom } from "./generate-program.ts";

/** In these, each of the 19 kinds of statement occurs at least four times. `npm run soak:durable` runs more. */
const PROGRAMS = Number(process.env["DURABLE_PROGRAMS"] ?? 50);

let sandboxes: ReadonlyMap<string, Sandbox>;
before(async () => {
  const opened = ENGINES.map(async (name) => [name, (await openTestSandbox({}, name)).sandbox] as const);
  sandboxes = new Map(await Promise.all(opened));
});
after(() => Promise.all([...sandboxes.values()].map((sandbox) => sandbox[Symbol.asyncDispose]())));

function sandboxOf(name: string): Sandbox {
  const found = sandboxes.get(name);
  assert.ok(found);
  return found;
}

/** Interrupts at every possible point, from the start to just before the end. */
async function interruptEverywhere(sandbox: Sandbox, seed: number) {
  const recorded = await recordRun(sandbox, makeProgram(numbersFrom(seed), { isOrdered: true }));
  assert.match(recorded.value, /"kind":"returned"/, `program ${seed}: ${recorded.value}`);
  const wrong = [];
  for (let cut = 0; cut <= recorded.given.length; cut += 1)
    wrong.push(...(await findDifferences(sandbox, recorded, cut)));
  return { wrong, steps: recorded.given.length + 1 };
}

test(`${PROGRAMS} programs that are interrupted at every step return the same and repeat no call`, async () => {
  const seeds = Array.from({ length: PROGRAMS }, (_, seed) => seed);
  const wrong: string[] = [];
  let steps = 0;
  const work = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const one = await interruptEverywhere(sandboxOf("isolate"), seed);
      steps += one.steps;
      wrong.push(...one.wrong.map((what) => `program ${seed} ${what}`));
    }
  };
  await Promise.all([work(), work()]);
  assert.deepEqual(wrong, []);
  assert.ok(steps > PROGRAMS * 5, `only ${steps} interruptions`);
});

describe("a recorded program", () => {
  for (const engine of ENGINES)
    test(`a program recorded on ${engine} returns the same when it is replayed on every engine`, async () => {
      for (const seed of [1, 2, 3, 4]) {
        const recorded = await recordRun(sandboxOf(engine), makeProgram(numbersFrom(seed), { isOrdered: true }));
        for (const other of ENGINES)
          for (const cut of [0, 1, Math.floor(recorded.given.length / 2), recorded.given.length])
            assert.deepEqual(await findDifferences(sandboxOf(other), recorded, cut), [], `${other}, program ${seed}`);
      }
    });
});
