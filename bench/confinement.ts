/** Measures what confinement costs one server: time until its first answer, and memory of its processes. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { createConfiner } from "../src/connectors/confinement/confine-server.ts";
import { examineMachine } from "../src/connectors/confinement/machine.ts";
import { startLaunch } from "../src/connectors/start-launch.ts";
import { parseConnectorId } from "../src/domain/index.ts";
import { openEgress } from "../src/egress/index.ts";
import { ms, print } from "./measure.ts";

const STARTS = 15;
const KIB = 1024;
const SERVER = resolve("test/fixtures/servers/probe-server.mjs");
const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

interface Cost {
  readonly ms: number;
  /** Of all its processes, shared pages in parts. */
  readonly bytes: number;
}

const LEVELS = ["off", "files", "strict"] as const;
type Level = (typeof LEVELS)[number];

/** The levels take turns, so that a busy machine costs each the same. */
export async function benchConfinement(): Promise<void> {
  console.log("\nConfined servers (cost of each server beside `off`; aims: 30 ms and 5 MB)");
  const { namespaces, landlock } = await examineMachine();
  if ("missing" in namespaces || "missing" in landlock) return print("confinement", "not on this machine");
  await using egress = openEgress();
  const costs: Record<Level, Cost[]> = { off: [], files: [], strict: [] };
  for (let run = 0; run <= STARTS; run += 1) {
    for (const level of LEVELS) {
      const cost = await startServer(level, egress);
      if (run > 0) costs[level].push(cost); // the first start fills caches
    }
  }
  const off = middle(costs.off);
  print("start of a server until its first answer, off: p50", ms(off.ms), mib(off.bytes));
  for (const level of ["files", "strict"] as const) {
    const cost = middle(costs[level]);
    print(`more at ${level}: p50`, ms(cost.ms - off.ms), mib(cost.bytes - off.bytes));
  }
}

async function startServer(level: Level, egress: ReturnType<typeof openEgress>): Promise<Cost> {
  const startedAt = performance.now();
  const launch = level === "files" || level === "strict" ? await confine(level, egress) : undefined;
  const child = launch
    ? startLaunch(launch)
    : spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "pipe"], env: {}, detached: true });
  child.stderr.resume();
  const closed = once(child, "close");
  child.stdin.write(`${JSON.stringify(HELLO)}\n`);
  await once(createInterface({ input: child.stdout }), "line");
  const cost = { ms: performance.now() - startedAt, bytes: sumMemory(child.pid ?? 0) };
  child.stdin.end();
  await closed;
  await launch?.[Symbol.asyncDispose]();
  return cost;
}

function confine(level: "files" | "strict", egress: ReturnType<typeof openEgress>) {
  const id = parseConnectorId("bench");
  if (!id) throw new TypeError("The name of the server is malformed");
  const confiner = createConfiner({
    id,
    confine: { level, limits: {}, files: { read: [], write: [] } },
    networkPolicy: undefined,
    machine: examineOnce,
    listNamed: () => [],
    home: homedir(),
    environment: process.env,
    egress,
    onRequest: async () => undefined,
  });
  return confiner({ command: process.execPath, args: [SERVER], cwd: "/", env: {} });
}

let machine: ReturnType<typeof examineMachine> | undefined;

/** As in a gateway: once for all servers. */
function examineOnce(): ReturnType<typeof examineMachine> {
  return (machine ??= examineMachine());
}

/** The proportional memory of a process and of all that it started. */
function sumMemory(root: number): number {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)] as const),
  );
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === root || isOurs(parents.get(pid)));
  return [...parents.keys()].filter(isOurs).reduce((sum, pid) => sum + memoryOf(pid), 0);
}

function parentOf(pid: string): number | undefined {
  return Number(/\) \S (\d+)/.exec(readProcess(`${pid}/stat`))?.[1] ?? Number.NaN) || undefined;
}

function memoryOf(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readProcess(`${pid}/smaps_rollup`))?.[1] ?? 0) * KIB;
}

function readProcess(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "latin1");
  } catch {
    return ""; // it has ended
  }
}

function middle(costs: readonly Cost[]): Cost {
  const pick = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  return { ms: pick(costs.map((cost) => cost.ms)), bytes: pick(costs.map(({ bytes }) => bytes)) };
}

function mib(bytes: number): string {
  return `${(bytes / KIB / KIB).toFixed(1)} MiB`;
}
