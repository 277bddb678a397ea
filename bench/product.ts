/** Measures the whole product: a program through every room, with a real upstream, policy and the ledger on disk. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { createGlovebox, defineAdapter } from "../src/main.ts";
import { timeHop } from "./process-round-trip.ts";
import { ms, print, rate, renew, time } from "./measure.ts";

/** A tool in the gateway's own process, as other products have them. */
const NEAR = defineAdapter({
  name: "near",
  tools: {
    echo: {
      description: "Says it again",
      input: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
      effect: "read",
      run: ({ sku }) => ({ sku, name: "Widget", price: 12.5 }),
    },
  },
});

const NEAR_CALL = 'near.echo({ sku: "SKU-001" })';
const FAR_CALL = 'inventory.getProduct({ sku: "SKU-001" })';

/** The pause between two programs of a model, but shorter. */
const PAUSE_MS = 10;

export async function benchProduct(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  try {
    await using glovebox = await createGlovebox({
      adapters: [NEAR],
      mcpServers: { inventory: { command: process.execPath, args: [resolve("dist/surfaces/demo/inventory.js")] } },
      sandbox: { limits: { calls: 1_000 } },
      quotas: { executionsPerMinute: 1_000_000, executionMsPerHour: 1_000_000_000 },
      store: { url: `sqlite:${join(folder, "bench.db")}` },
    });
    const run = (code: string): Promise<unknown> => glovebox.execute({ code: renew(code) });
    await time(50, () => run("return 1"));
    console.log("\nProduct (library, real upstream over stdio, ledger on disk)");
    const paced = await time(150, () => run("return 1"), PAUSE_MS);
    print("a program without calls, paced: p50 / p95", `${ms(paced.p50)} / ${ms(paced.p95)}`, "aim: 2.5 ms");
    const plain = await time(300, () => run("return 1"));
    print("the same, back to back: p50 / p95", `${ms(plain.p50)} / ${ms(plain.p95)}`, "aim: 2.5 ms");
    await benchCalls("tool in the gateway", NEAR_CALL, run);
    const ten = await benchCalls("server over stdio", FAR_CALL, run);
    const hop = await timeHop();
    print(
      "20 round trips between processes and nothing else",
      ms(20 * hop),
      `${((2_000 * hop) / ten).toFixed(0)} % of the last 10 calls`,
    );
    print("executions per second, 4 at once", (await rate(800, 4, () => run("return 1"))).toFixed(0), "aim: 520");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the median of ten sequential calls. */
async function benchCalls(of: string, call: string, run: (code: string) => Promise<unknown>): Promise<number> {
  const ten = `for (let made = 0; made < 10; made += 1) await ${call};`;
  const sequential = await time(60, () => run(ten), PAUSE_MS);
  print(`10 sequential calls, ${of}: p50 / p95`, `${ms(sequential.p50)} / ${ms(sequential.p95)}`, "aim: 7.5 ms");
  const hundred = `await Promise.all(Array.from({ length: 100 }, () => ${call}))`;
  const parallel = await time(25, () => run(hundred), PAUSE_MS);
  print(`100 parallel calls, ${of}: p50 / p95`, `${ms(parallel.p50)} / ${ms(parallel.p95)}`, "aim: 15 ms");
  return sequential.p50;
}

/** Measures the time until a client's first request is answered, compared with an empty Node process. */
export async function benchStart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  writeFileSync(join(folder, "glovebox.config.json"), '{ "mcpServers": {} }');
  try {
    const empty = await time(7, () => once(spawn(process.execPath, ["-e", "0"]), "exit"));
    const times: number[] = [];
    for (let start = 0; start < 7; start += 1) times.push(await timeStart(folder));
    const ready = times.toSorted((a, b) => a - b)[3] ?? Number.NaN;
    console.log("\nStart");
    print("`glovebox mcp` until it answers: p50", ms(ready), "aim: 500 ms");
    print("against an empty Node", `${(ready / empty.p50).toFixed(2)} x`, `(${ms(empty.p50)})`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** Measures until the first response; waits for the end of the process without counting it. */
async function timeStart(folder: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [resolve("bin/glovebox.js"), "mcp", "--config", "glovebox.config.json"], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: folder },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.write(`${JSON.stringify(HELLO)}\n`);
  await once(child.stdout, "data");
  const took = performance.now() - startedAt;
  child.stdin.end();
  await once(child, "exit");
  return took;
}
