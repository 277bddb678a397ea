/** Measures a well-behaved client while another client runs hostile programs all the time. */

import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { Limits, PrincipalId } from "../src/domain/index.ts";
import { openReaper } from "../src/processes/index.ts";
import { confineEngine, createEngine, openSandbox } from "../src/sandbox/index.ts";
import type { Sandbox } from "../src/sandbox/index.ts";
import { ms, print, time } from "./measure.ts";
import { runProgram } from "./run-program.ts";

const HOSTILE = 8;
const LIMITS: Limits = { ...DEFAULT_LIMITS, wallMs: 1_000, memoryBytes: 64 * 1024 * 1024 };
const PROGRAMS = [
  "for (;;);",
  "const a = []; for (;;) a.push(new Array(1e4).fill(1.1));",
  "function f() { Promise.resolve().then(f); } f(); await new Promise(() => {});",
  "/(a+)+$/.test('a'.repeat(40) + 'b')",
];
const HEALTHY = "healthy" as PrincipalId;
const PAUSE_MS = 15;
const RUNS = 300;

export async function benchNeighbors(): Promise<void> {
  await using reaper = openReaper();
  const engine = await confineEngine(createEngine("isolate", process.execPath), "auto");
  await using sandbox = openSandbox({
    engine,
    keeper: reaper,
    concurrency: HOSTILE + 1,
    queue: 100,
    limits: LIMITS,
    now: Date.now,
    seed: () => [1, 2, 3, 4],
  });
  const healthy = (): Promise<unknown> => runProgram(sandbox, "return 1 + 1", LIMITS, HEALTHY);
  await time(50, healthy, PAUSE_MS);
  const alone = await time(RUNS, healthy, PAUSE_MS);
  const stop = new AbortController();
  const attacks = Array.from({ length: HOSTILE }, (_, index) => attack(sandbox, index, stop.signal));
  await time(30, healthy, PAUSE_MS);
  const beside = await time(RUNS, healthy, PAUSE_MS);
  stop.abort();
  await Promise.all(attacks);
  console.log("\nNeighbors");
  print(
    `p99 of a healthy client beside ${HOSTILE} hostile programs, against alone`,
    `${(beside.p99 / alone.p99).toFixed(2)} x`,
    `aim: 2 x   (${ms(beside.p99)} / ${ms(alone.p99)}; p50 ${ms(beside.p50)} / ${ms(alone.p50)})`,
  );
}

async function attack(sandbox: Sandbox, index: number, stopping: AbortSignal): Promise<void> {
  for (let turn = index; !stopping.aborted; turn += 1) {
    await runProgram(sandbox, PROGRAMS[turn % PROGRAMS.length] ?? "", LIMITS);
  }
}
