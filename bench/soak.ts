/**
 * `npm run soak [-- COUNT]`: runs many executions with hostile ones among them, first at the sandbox's own interface, then
 * as a quarter as many of 200 clients of the built product. Memory, descriptors and processes must stay flat. The first
 * part is bounded by count and by time. Exits with 1 if an aim is missed or an honest program failed.
 */

import { readFileSync, readdirSync } from "node:fs";

import { buildIfStale } from "../scripts/build.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { Limits } from "../src/domain/index.ts";
import { openReaper } from "../src/processes/index.ts";
import { confineEngine, createEngine, openSandbox } from "../src/sandbox/index.ts";
import { runProgram } from "./run-program.ts";
import { soakClients } from "./soak-clients.ts";

const COUNT = Number(process.argv[2] ?? 20_000);
const MOST_MS = 20 * 60_000;
const HOSTILE_EVERY = 40;
const PARALLEL = 4;
const REPORT_EVERY = 1_000;
/** The first executions warm up caches; growth is counted after them. */
const WARM = 2_000;
const MOST_GROWTH_BYTES_PER_1000 = 512 * 1024;

const HOSTILE = [
  "for (;;);",
  "const a = []; for (;;) a.push(new Array(1e5).fill(1.1));",
  "throw new Error('x'.repeat(1e6));",
  "console.log('x'.repeat(2e6));",
  "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x' + i);",
  "await new Promise(() => {});",
  "function f() { Promise.resolve().then(f); } f(); await new Promise(() => {});",
  "for (;;) await tools.echo({});",
];

interface Sample {
  readonly done: number;
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly children: number;
}

await buildIfStale();
const limits: Limits = { ...DEFAULT_LIMITS, wallMs: 400, memoryBytes: 64 * 1024 * 1024 };
await using reaper = openReaper();
const engine = await confineEngine(createEngine("isolate", process.execPath), "auto");
await using sandbox = openSandbox({
  engine,
  keeper: reaper,
  concurrency: PARALLEL,
  queue: 1_000,
  limits,
  now: Date.now,
  seed: () => [1, 2, 3, 4],
});

const startedAt = performance.now();
const samples: Sample[] = [];
let [started, done, wrong] = [0, 0, 0];

console.log(`${COUNT} executions, every ${HOSTILE_EVERY}th hostile, isolation ${sandbox.isolation}`);
await Promise.all(Array.from({ length: PARALLEL }, work));
const isFlat = judge();
process.exitCode = (await soakClients(Math.ceil(COUNT / 4))) && isFlat ? 0 : 1;

async function work(): Promise<void> {
  while (started < COUNT && performance.now() - startedAt < MOST_MS) {
    started += 1;
    const turn = started;
    if (turn % HOSTILE_EVERY === 0)
      await runProgram(sandbox, HOSTILE[(turn / HOSTILE_EVERY) % HOSTILE.length] ?? "", limits);
    else await runHonest(turn);
    done += 1;
    if (done % REPORT_EVERY === 0) report();
  }
}

async function runHonest(turn: number): Promise<void> {
  const { ending } = await runProgram(sandbox, `return (await tools.echo({ turn: ${turn} })).turn;`, limits);
  if (ending.kind === "returned" && ending.value === turn) return;
  wrong += 1;
  console.log(`execution ${turn} ended as ${JSON.stringify(ending)}`);
}

function report(): void {
  const sample = {
    done,
    rssBytes: process.memoryUsage.rss(),
    descriptors: readdirSync("/proc/self/fd").length,
    children: readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").length,
  };
  samples.push(sample);
  const megabytes = (sample.rssBytes / 1024 / 1024).toFixed(0);
  console.log(`${done} done: ${megabytes} MB, ${sample.descriptors} descriptors, ${sample.children} children`);
}

/** Compares the end with the state after the warm-up. */
function judge(): boolean {
  const first = samples.find((sample) => sample.done >= WARM);
  const last = samples.at(-1);
  if (!first || !last || first === last) return wrong === 0;
  const growth = ((last.rssBytes - first.rssBytes) / (last.done - first.done)) * 1_000;
  const flat = last.descriptors <= first.descriptors + 16 && last.children <= PARALLEL + 2;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(
    `${done} executions in ${seconds} s, ${wrong} honest ones wrong, ${(growth / 1024).toFixed(0)} kB growth per 1,000`,
  );
  return wrong === 0 && flat && growth < MOST_GROWTH_BYTES_PER_1000;
}
