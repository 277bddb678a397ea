/** Runs programs in a sequence of gateways that are killed at different moments, and collects all problems. */

import { openTestSandbox } from "../../../src/sandbox/fixtures/test-sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { checkOutcomes } from "./check-outcomes.ts";
import { readRows } from "./read-records.ts";
import { MOMENTS, openKilledGateways } from "./killed-gateways.ts";
import type { Kill, KilledGateways } from "./killed-gateways.ts";

/**
 * The number of programs on one store, and the number of new ones per gateway. Each gateway also recovers the programs
 * of earlier ones.
 */
const AT_ONCE = process.env["DURABLE_KILLED"] === undefined ? 24 : 48;
const FRESH = AT_ONCE / 4;

/** About as many of each as occur during one gateway with twelve new programs. */
const MAX_COUNT: Readonly<Record<Kill["moment"], number>> = {
  "before commit": 120,
  "after commit": 120,
  request: 85,
  answer: 85,
  asked: 7,
  decided: 7,
  millisecond: 500,
};
/** Spreads any sequence of moments evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

function chooseKill(number: number): Kill {
  const moment = MOMENTS[number % MOMENTS.length] ?? "request";
  return { moment, at: 1 + Math.floor((((number * GOLDEN) % 1) * MAX_COUNT[moment] * FRESH) / 12) };
}

/** The problems that were found, and counts of what was observed. */
export class Tally {
  readonly wrong: string[] = [];
  readonly counts = new Map<string, number>();
  /** The number of gateways so far; each is killed at a different moment. */
  gateways: number;

  constructor(lives: number) {
    this.gateways = lives;
  }

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }
}

async function killRepeatedly(killed: KilledGateways, batch: readonly number[], tally: Tally): Promise<void> {
  for (let at = 0, isLast = false; !isLast; at += FRESH) {
    isLast = at >= batch.length;
    const kill = isLast ? undefined : chooseKill(tally.gateways);
    tally.gateways += 1;
    const { wasKilled: isCut, wrong } = await killed.runGateway(batch.slice(at, at + FRESH), kill);
    const moment = isCut && kill ? kill.moment : "the end";
    tally.add(`killed at ${moment}`);
    tally.wrong.push(...wrong.map((what) => `after ${moment} ${kill?.at}: ${what}`));
  }
}

async function killBatch(batch: readonly number[], sandbox: Sandbox, tally: Tally): Promise<void> {
  await using killed = await openKilledGateways();
  await killRepeatedly(killed, batch, tally);
  tally.wrong.push(...(await checkOutcomes(killed, batch, sandbox)));
  for (const [step, count] of killed.steps) tally.add(`met while ${step}`, count);
  for (const { state } of readRows(killed.settings)) tally.add(`came to be ${state}`);
}

/** Two files, because two files run at once. */
const PARTS = 2;

/**
 * One in each part of all 24 kinds: with or without an order, unrepeatable calls, approvals and an idempotency key.
 * `npm run soak:durable` runs more.
 */
export const PROGRAMS = Math.ceil(Number(process.env["DURABLE_KILLED"] ?? PARTS * AT_ONCE) / PARTS);

/** `part` is 0 or 1; the parts have different programs. */
export async function killPart(part: number): Promise<Tally> {
  const { sandbox } = await openTestSandbox({});
  await using _closing = sandbox;
  // The second part begins with the moment after the last one of the first part, so that every moment occurs.
  const tally = new Tally(part * (AT_ONCE / FRESH));
  const seeds = Array.from({ length: PROGRAMS }, (_, at) => part * PROGRAMS + at);
  while (seeds.length > 0) await killBatch(seeds.splice(0, AT_ONCE), sandbox, tally);
  return tally;
}
