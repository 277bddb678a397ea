/**
 * `npm run bench:peers`: runs the same programs through Glovebox and other code mode products, alternating within one
 * run. It installs the products into a temporary folder, so it needs a package registry. Each product is measured
 * through its own interface: a program as source text, its result as a value.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildIfStale } from "../../scripts/build.ts";
import { print, rate, time } from "../measure.ts";
import { openCodemode } from "./codemode.ts";
import { openExecutor } from "./executor.ts";
import { openGloveboxWithAdapter, openGloveboxWithServer } from "./glovebox.ts";
import type { Peer, Task } from "./peer.ts";
import { openUtcp } from "./utcp.ts";

const PACKAGES = [
  "@cloudflare/codemode@0.5.6",
  "@utcp/code-mode@1.2.12",
  "@utcp/direct-call@1.0.12",
  "esbuild@0.28.2",
  "executor@1.5.9",
  "workerd@1.20261104.1",
];
/** Rounds per product. They alternate, so that other load on the machine affects all products. */
const ROUNDS = 5;
const WARM = 20;
const PACED: Readonly<Record<Task, number>> = { nothing: 40, ten: 20, hundred: 8 };
const DENSE: Readonly<Record<Task, number>> = { nothing: 80, ten: 20, hundred: 8 };
const AT_ONCE = 200;
const PAUSE_MS = 10;

const NAMES: Readonly<Record<Task, string>> = {
  nothing: "nothing",
  ten: "10 calls one after the other",
  hundred: "100 calls at once",
};

const RATE = "executions of nothing per second, 4 at once";

await buildIfStale();
const folder = mkdtempSync(join(tmpdir(), "glovebox-peers-"));
try {
  install(folder);
  await using stack = new AsyncDisposableStack();
  const peers: Peer[] = [];
  for (const open of [openGloveboxWithAdapter, openGloveboxWithServer, openExecutor, openUtcp, openCodemode])
    peers.push(stack.use(await open(folder)));
  await compare(peers);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function install(into: string): void {
  writeFileSync(join(into, "package.json"), '{ "private": true, "type": "module" }');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", ...PACKAGES];
  const { status } = spawnSync("npm", args, { cwd: into, stdio: "inherit" });
  if (status !== 0) throw new Error("Cannot install the other products. Check that a package registry is reachable.");
}

async function compare(peers: readonly Peer[]): Promise<void> {
  const seen = peers.map((peer) => ({ peer, times: new Map<string, number[]>() }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { peer, times } of seen) {
      const note = (name: string, value: number): void => void times.set(name, [...(times.get(name) ?? []), value]);
      await measure(peer, note);
    }
  }
  for (const { peer, times } of seen) {
    console.log(`\n${peer.name}`);
    for (const [name, values] of times) print(name, `${medianOf(values).toFixed(2)} ${name === RATE ? "/s" : "ms"}`);
  }
}

async function measure(peer: Peer, note: (name: string, value: number) => void): Promise<void> {
  await time(WARM, () => peer.run("nothing"));
  for (const task of peer.tasks) {
    await time(2, () => peer.run(task));
    note(`${NAMES[task]}, paced: p50`, (await time(PACED[task], () => peer.run(task), PAUSE_MS)).p50);
    note(`${NAMES[task]}, back to back: p50`, (await time(DENSE[task], () => peer.run(task))).p50);
  }
  note(RATE, await rate(AT_ONCE, 4, () => peer.run("nothing")));
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
