/**
 * Generated programs in real gateways that are killed with SIGKILL again and again, at every step, until every program
 * has ended: nothing is lost, nothing is done twice, and what completes is what it is undisturbed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openTestSandbox } from "../../../src/sandbox/fixtures/test-sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { judge } from "./judge.ts";
import { readRows } from "./kept.ts";
import { MOMENTS, openKillWorld } from "./kill-world.ts";
import type { Kill, KillWorld } from "./kill-world.ts";

/** `DURABLE_KILLED=2000` for a longer look. */
const PROGRAMS = Number(process.env["DURABLE_KILLED"] ?? 300);
/** On one store, and as many more for each gateway; it goes on with what earlier ones left, too. */
const AT_ONCE = 150;
const FRESH = 25;
/** So many gateways are there at a time. */
const WORLDS = 2;

/** About as many of each as happen in one life. */
const MOST: Readonly<Record<Kill["moment"], number>> = {
  "before commit": 120,
  "after commit": 120,
  request: 80,
  answer: 80,
  asked: 10,
  decided: 10,
  millisecond: 500,
};
/** Any row of moments is spread evenly by it. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

function chooseKill(number: number): Kill {
  const moment = MOMENTS[number % MOMENTS.length] ?? "request";
  return { moment, at: 1 + Math.floor(((number * GOLDEN) % 1) * MOST[moment]) };
}

/** How often what was met, for whoever looks longer. */
class Tally {
  readonly wrong: string[] = [];
  lives = 0;
  readonly counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }
}

async function killAgainAndAgain(world: KillWorld, batch: readonly number[], tally: Tally): Promise<void> {
  for (let at = 0, isLast = false; !isLast; at += FRESH) {
    isLast = at >= batch.length;
    const kill = isLast ? undefined : chooseKill(tally.lives);
    tally.lives += 1;
    const { isCut, wrong } = await world.live(batch.slice(at, at + FRESH), kill);
    const moment = isCut && kill ? kill.moment : "the end";
    tally.add(`killed at ${moment}`);
    tally.wrong.push(...wrong.map((what) => `after ${moment} ${kill?.at}: ${what}`));
  }
}

async function killBatch(batch: readonly number[], sandbox: Sandbox, tally: Tally): Promise<void> {
  await using world = await openKillWorld();
  await killAgainAndAgain(world, batch, tally);
  tally.wrong.push(...(await judge(world, batch, sandbox)));
  for (const [step, count] of world.steps) tally.add(`met while ${step}`, count);
  for (const { state } of readRows(world.settings)) tally.add(`came to be ${state}`);
}

test(`${PROGRAMS} programs in gateways that are killed come to the same, and change nothing twice`, async (context) => {
  const { sandbox } = await openTestSandbox({});
  await using _closing = sandbox;
  const tally = new Tally();
  const seeds = Array.from({ length: PROGRAMS }, (_, seed) => seed);
  const work = async (): Promise<void> => {
    while (seeds.length > 0) await killBatch(seeds.splice(0, AT_ONCE), sandbox, tally);
  };
  await Promise.all(Array.from({ length: WORLDS }, work));
  context.diagnostic(JSON.stringify(Object.fromEntries([...tally.counts].toSorted(([a], [b]) => a.localeCompare(b)))));
  assert.deepEqual(tally.wrong, []);
});
