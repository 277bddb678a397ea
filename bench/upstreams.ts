/** Measures upstreams: calls that wait at the same time, and the gateway's memory with many servers. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { createGlovebox } from "../src/main.ts";
import { ms, print, renew, time } from "./measure.ts";

const CALL_MS = 100;
const MANY = 20;
const MIB = 1024 * 1024;
/** Time for the garbage collector to free what only the start needed. */
const SETTLE_MS = 3000;

const PROBE = { command: process.execPath, args: [resolve("test/fixtures/servers/probe-server.mjs")] };
const INVENTORY = { command: process.execPath, args: [resolve("dist/surfaces/demo/inventory.js")] };

/** Prints both; the servers are real processes over stdio. */
export async function benchUpstreams(): Promise<void> {
  console.log("\nUpstreams (real servers over stdio)");
  await benchParallel();
  const none = await measureGateway(0);
  const many = await measureGateway(MANY);
  const name = `resident memory of the gateway with ${MANY} upstreams / with none`;
  if (none === undefined || many === undefined) print(name, "no /proc");
  else print(name, `${mib(many)} / ${mib(none)}`, `${mib((many - none) / MANY)} for each`);
}

async function benchParallel(): Promise<void> {
  await using glovebox = await createGlovebox({ mcpServers: { probe: PROBE }, store: { url: "sqlite::memory:" } });
  const run = (calls: number): Promise<unknown> =>
    glovebox.execute({
      code: renew(`await Promise.all(Array.from({ length: ${calls} }, () => probe.wait({ ms: ${CALL_MS} })))`),
    });
  await time(3, () => run(5));
  const one = await time(20, () => run(1));
  const five = await time(20, () => run(5));
  const ratio = `${(five.p50 / one.p50).toFixed(2)} x one`;
  print(`5 parallel calls of ${CALL_MS} ms: p50 / p95`, `${ms(five.p50)} / ${ms(five.p95)}`, ratio);
}

/** The memory of a separate `serve` process, once everything is ready and idle. */
async function measureGateway(upstreams: number): Promise<number | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  const names = Array.from({ length: upstreams }, (_, at) => `inventory${at}`);
  const mcpServers = Object.fromEntries(names.map((name) => [name, INVENTORY]));
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify({ mcpServers }));
  const args = ["serve", "--json", "--port", "0", "--config", "glovebox.config.json"];
  const gateway = spawn(process.execPath, [resolve("bin/glovebox.js"), ...args], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((done) => gateway.once("close", done));
  try {
    await new Promise((ready) => createInterface({ input: gateway.stdout }).once("line", ready));
    await wait(SETTLE_MS);
    return residentBytes(gateway.pid);
  } finally {
    gateway.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

function residentBytes(pid: number | undefined): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  } catch {
    return undefined;
  }
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
