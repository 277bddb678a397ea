/**
 * `npm run soak:kill [-- ROUNDS]`: kills a gateway under load repeatedly and checks its records. Exits with 1 if
 * anything that was acknowledged is lost, or if a ledger does not verify.
 */

import { buildIfStale } from "../scripts/build.ts";
import { openKillLoop } from "../test/fixtures/kill-under-load.ts";

const ROUNDS = Number(process.argv[2] ?? 500);
const LATEST_MS = 600;
/** Starts a new store after this many rounds, so that verifying it does not take longer and longer. */
const ROUNDS_PER_STORE = 25;

await buildIfStale();
const startedAt = performance.now();
let [wrong, acknowledged] = [0, 0];
let place = openKillLoop();
for (let round = 1; round <= ROUNDS; round += 1) {
  const result = await place.round(Math.random() * LATEST_MS);
  acknowledged += result.acknowledged;
  tell(round, result.wrong);
  if (round % ROUNDS_PER_STORE !== 0 && round < ROUNDS) continue;
  tell(round, await place.finish());
  place.remove();
  place = openKillLoop();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${round} rounds in ${seconds} s: ${acknowledged} executions acknowledged, ${wrong} things wrong`);
}
place.remove();
process.exitCode = wrong === 0 ? 0 : 1;

function tell(round: number, found: readonly string[]): void {
  wrong += found.length;
  for (const line of found.slice(0, 10)) console.log(`round ${round}: ${line}`);
}
