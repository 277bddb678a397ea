/**
 * The second part of `npm run soak`: MCP clients over HTTP on the built product, with hostile programs among theirs.
 * `/health` must answer, memory must stay flat, and limits must hold.
 */

import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { INVENTORY, cleanEnvironment, waitForOutput } from "../test/fixtures/product.ts";
import { ms, print, renew } from "./measure.ts";

const CLIENTS = 200;
/** Clients of the older era have sessions, of which a gateway keeps a hundred. */
const OLDER_CLIENTS = 60;
const HOSTILE_EVERY = 40;
const WALL_MS = 1_000;
const THINK_MS = 200;
const PATIENCE_MS = 10 * 60_000;
/** The first executions fill caches; growth is counted after them. */
const WARM_SHARE = 0.25;
const SAMPLES = 40;

const [HEALTH_AIM_MS, GROWTH_AIM_MB, OVERRUN_AIM_MS] = [250, 0.5, 150];
const MEGABYTE = 1024 * 1024;

const HONEST = [
  "return 1 + 1",
  'return (await inventory.getProduct({ sku: "SKU-001" })).name',
  "return (await Promise.all([inventory.listProducts({}), inventory.listOrders({})])).length",
];
const HOSTILE = [
  "for (;;);",
  "const a = []; for (;;) a.push(new Array(1e5).fill(1.1));",
  "console.log('x'.repeat(2e6)); throw new Error('x'.repeat(1e6));",
  "await new Promise((done) => setTimeout(done, 60_000));",
  "function f() { Promise.resolve().then(f); } f(); await new Promise(() => {});",
  "/(a+)+$/.test('a'.repeat(40) + 'b')",
  "for (;;) await inventory.listProducts({});",
  "return glovebox.search('x'.repeat(1e5));",
];

interface View {
  readonly state: string;
  readonly error?: { readonly code: string };
  readonly stats: { readonly wallMs: number };
}

/** Returns whether all aims were met. */
export async function soakClients(count: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-soak-"));
  const config = {
    mcpServers: { inventory: INVENTORY },
    sandbox: { limits: { wallMs: WALL_MS, memoryBytes: 64 * MEGABYTE, calls: 500 }, queue: CLIENTS },
    quotas: { executionsPerMinute: 0, executionMsPerHour: 0 },
    analysis: { types: "off" },
  };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  const args = ["bin/glovebox.js", "serve", "--json", "--port", "0", "--config", join(folder, "glovebox.config.json")];
  const gateway = spawn(process.execPath, args, { env: cleanEnvironment(folder) });
  try {
    const { url, mcp } = JSON.parse(await waitForOutput(gateway, /\}\n$/)) as { url: string; mcp: string };
    return await soak(count, { url, mcp, pid: gateway.pid ?? 0 });
  } finally {
    gateway.kill();
    await once(gateway, "exit");
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function soak(count: number, { url, mcp, pid }: { url: string; mcp: string; pid: number }): Promise<boolean> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, index) => connect(mcp, index)));
  const health = fork(new URL("soak-health.ts", import.meta.url), [`${url}/health`], { execArgv: [] });
  const overruns: number[] = [];
  const samples: { readonly done: number; readonly bytes: number }[] = [];
  const wrong = new Map<string, number>();
  let [started, done] = [0, 0];

  const work = async (client: Client): Promise<void> => {
    while (started < count) {
      started += 1;
      const turn = started;
      const isHostile = turn % HOSTILE_EVERY === 0;
      const list = isHostile ? HOSTILE : HONEST;
      const code = renew(list[Math.floor(turn / (isHostile ? HOSTILE_EVERY : 1)) % list.length] ?? "");
      const call = { name: "execute", arguments: { code, detail: "full" } };
      const { structuredContent } = await client.callTool(call, { timeout: PATIENCE_MS });
      const { state, error, stats } = structuredContent as View;
      if (error?.code === "LIMIT_TIME") overruns.push(Math.max(0, stats.wallMs - WALL_MS));
      if (!isHostile && state !== "completed")
        wrong.set(error?.code ?? state, (wrong.get(error?.code ?? state) ?? 0) + 1);
      done += 1;
      if (done % Math.ceil(count / SAMPLES) === 0) samples.push({ done, bytes: residentBytes(pid) });
      await new Promise((resume) => setTimeout(resume, Math.random() * 2 * THINK_MS));
    }
  };
  const startedAt = performance.now();
  await Promise.all(clients.map(work));
  const seconds = (performance.now() - startedAt) / 1_000;
  health.send("end");
  const [times] = (await once(health, "message")) as [number[]];
  await Promise.all(clients.map((client) => client.close().catch(() => undefined)));

  const slowest = Math.max(...times);
  const growth = slopeOf(samples.slice(Math.floor(samples.length * WARM_SHARE)));
  const overrun = percentile(overruns, 0.99);
  const failures = [...wrong].map(([code, times_]) => `${times_} x ${code}`).join(", ");
  console.log(`\n${CLIENTS} clients: ${count} executions in ${seconds.toFixed(0)} s, every ${HOSTILE_EVERY}th hostile`);
  print("honest programs that failed", failures || "none");
  print(
    `slowest of ${times.length} answers of /health`,
    `${ms(slowest)}, p99 ${ms(percentile(times, 0.99))}`,
    `aim: ${HEALTH_AIM_MS} ms`,
  );
  print("growth of the gateway per 1,000 executions", `${growth.toFixed(2)} MB`, `aim: ${GROWTH_AIM_MB} MB`);
  print(`time over the limit, p99 of ${overruns.length}`, ms(overrun), `aim: ${OVERRUN_AIM_MS} ms`);
  return slowest <= HEALTH_AIM_MS && growth <= GROWTH_AIM_MB && overrun <= OVERRUN_AIM_MS;
}

async function connect(mcp: string, index: number): Promise<Client> {
  const mode = index < OLDER_CLIENTS ? ("legacy" as const) : { pin: "2026-07-28" };
  const client = new Client({ name: `soak-${index}`, version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  return client;
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
}

/** Of the least squares, in MB per 1,000 executions. */
function slopeOf(samples: readonly { readonly done: number; readonly bytes: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(samples.map(({ done }) => done)), mean(samples.map(({ bytes }) => bytes))];
  const above = samples.reduce((sum, { done, bytes }) => sum + (done - x) * (bytes - y), 0);
  const below = samples.reduce((sum, { done }) => sum + (done - x) ** 2, 0);
  return below === 0 ? 0 : ((above / below) * 1_000) / MEGABYTE;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
