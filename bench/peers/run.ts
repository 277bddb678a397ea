/**
 * `npm run bench:peers`: runs the same programs through Glovebox and other code mode products, in turns within one run,
 * and prints each figure with its ratio to Glovebox. Every timed program has a new text. It installs the products into a
 * temporary folder, so it needs a package registry. `ROUNDS=15 npm run bench:peers` measures for longer.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { buildIfStale } from "../../scripts/build.ts";
import { rate, time } from "../measure.ts";
import { CODEMODE } from "./codemode.ts";
import { EXECUTOR } from "./executor.ts";
import { GLOVEBOX, GLOVEBOX_NEAR } from "./glovebox.ts";
import { TANSTACK, UTCP } from "./libraries.ts";
import { runTask } from "./peer.ts";
import type { Peer, Product, Task } from "./peer.ts";
import { residentBytes } from "./resident-bytes.ts";

const PACKAGES = [
  "@cloudflare/codemode@0.5.6",
  "@tanstack/ai@0.39.0",
  "@tanstack/ai-code-mode@0.3.4",
  "@tanstack/ai-isolate-node@0.1.49",
  "@utcp/code-mode@1.2.12",
  "@utcp/direct-call@1.0.12",
  "esbuild@0.28.2",
  "executor@1.5.9",
  "workerd@1.20261104.1",
  "zod@4.6.7",
];
/** The first is what the ratios refer to. */
const PRODUCTS: readonly Product[] = [GLOVEBOX, GLOVEBOX_NEAR, EXECUTOR, UTCP, CODEMODE, TANSTACK];

const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const WARM = 20;
const AT_ONCE = 200;
/** The pause between two programs of a model, but shorter. */
const PAUSE_MS = 10;
/** Executor takes seconds for these. */
const SLOW_MS = 1_500;

const LINES: readonly { readonly task: Task; readonly name: string; readonly count: number }[] = [
  { task: "nothing", name: "a trivial program", count: 40 },
  { task: "ten", name: "10 sequential calls", count: 15 },
  { task: "hundred", name: "100 parallel calls", count: 8 },
  { task: "waits", name: "5 parallel calls of 100 ms", count: 4 },
  { task: "json", name: "JSON, 1 MB there and back", count: 5 },
  { task: "sort", name: "sort of 100,000 numbers", count: 5 },
  { task: "fib", name: "fib(25)", count: 8 },
];
const RATE = "executions per second, four at once";
const [READY, FIRST] = ["start until ready", "first execution after it"];
const [IDLE, USED, COMPUTED] = ["memory, idle", "memory after 200 executions", "memory after a computing program"];

const MIB = 1024 * 1024;
/** Time for the garbage collector, and for what starts after the first answer. */
const SETTLE_MS = 3_000;

/** All values of one line, by product. */
type Figures = Map<string, Map<Product, number[]>>;

await buildIfStale();
const folder = mkdtempSync(join(tmpdir(), "glovebox-peers-"));
try {
  install(folder);
  for (const product of PRODUCTS) await product.prepare?.(folder);
  const figures: Figures = new Map();
  await measureStarts(figures);
  await measurePrograms(figures);
  await measureMemory(figures);
  for (const [name, values] of figures) printLine(name, values);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function install(into: string): void {
  writeFileSync(join(into, "package.json"), '{ "private": true, "type": "module" }');
  const args = ["install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--silent"];
  const { status } = spawnSync("npm", [...args, ...PACKAGES], { cwd: into, stdio: "inherit" });
  if (status !== 0) throw new Error("Cannot install the other products. Check that a package registry is reachable.");
}

function note(figures: Figures, name: string, product: Product, value: number): void {
  const line = figures.get(name) ?? new Map<Product, number[]>();
  figures.set(name, line);
  line.set(product, [...(line.get(product) ?? []), value]);
}

async function measureStarts(figures: Figures): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const product of PRODUCTS) {
      const startedAt = performance.now();
      await using peer = await product.open(folder);
      const readyAt = performance.now();
      note(figures, READY, product, readyAt - startedAt);
      await runTask(peer, product.dialect, "nothing");
      note(figures, FIRST, product, performance.now() - readyAt);
    }
  }
}

/** All products stay alive, so that each is measured beside the same neighbors. */
async function measurePrograms(figures: Figures): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const started: { readonly product: Product; readonly peer: Peer }[] = [];
  for (const product of PRODUCTS) started.push({ product, peer: stack.use(await product.open(folder)) });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { task, name, count } of LINES) {
      for (const { product, peer } of started) {
        const act = (): Promise<void> => runTask(peer, product.dialect, task);
        await time(task === "nothing" ? WARM : 1, act);
        const isSlow = (await time(1, act)).p50 > SLOW_MS;
        const { p50, p95 } = await time(isSlow ? 1 : count, act, PAUSE_MS);
        note(figures, `${name}, p50`, product, p50);
        if (task === "nothing") note(figures, `${name}, p95`, product, p95);
      }
    }
    for (const { product, peer } of started) {
      note(figures, RATE, product, await rate(AT_ONCE, 4, () => runTask(peer, product.dialect, "nothing")));
    }
  }
}

/** Of each product alone, with all its processes. */
async function measureMemory(figures: Figures): Promise<void> {
  for (const product of PRODUCTS) {
    await using peer = await product.open(folder);
    const measure = async (name: string): Promise<void> => {
      await sleep(SETTLE_MS);
      note(figures, name, product, residentBytes(peer.pid) / MIB);
    };
    await measure(IDLE);
    await time(AT_ONCE, () => runTask(peer, product.dialect, "nothing"));
    await measure(USED);
    await runTask(peer, product.dialect, "fib");
    await measure(COMPUTED);
  }
}

function printLine(name: string, values: ReadonlyMap<Product, readonly number[]>): void {
  const unit = name === RATE ? "/s" : name.startsWith("memory") ? "MiB" : "ms";
  const ours = medianOf(values.get(GLOVEBOX) ?? []);
  console.log(`\n${name}`);
  for (const [product, seen] of values) {
    const median = medianOf(seen);
    const ratio = product === GLOVEBOX ? "" : `Glovebox: ${(ours / median).toFixed(2)} x`;
    console.log(`  ${product.name.padEnd(52)} ${median.toFixed(1).padStart(8)} ${unit.padEnd(4)} ${ratio}`);
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
