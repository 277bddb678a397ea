/** The whole product: a program through every room, with a real upstream, policy and the ledger on disk. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { createGlovebox } from "../src/main.ts";
import { ms, print, rate, time } from "./measure.ts";

export async function benchProduct(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  try {
    await using glovebox = await createGlovebox({
      mcpServers: { inventory: { command: process.execPath, args: [resolve("dist/surfaces/demo/inventory.js")] } },
      sandbox: { limits: { calls: 1_000 } },
      store: { url: `sqlite:${join(folder, "bench.db")}` },
    });
    const run = (code: string): Promise<unknown> => glovebox.execute({ code });
    await time(50, () => run("return 1"));
    console.log("\nProduct (library, real upstream over stdio, ledger on disk)");
    const plain = await time(300, () => run("return 1"));
    print("a program without calls: p50 / p95", `${ms(plain.p50)} / ${ms(plain.p95)}`, "aim: 2.5 ms");
    const ten = await time(50, () =>
      run('for (let i = 0; i < 10; i++) await inventory.getProduct({ sku: "SKU-001" });'),
    );
    print("10 sequential calls of an upstream: p50 / p95", `${ms(ten.p50)} / ${ms(ten.p95)}`, "aim: 7.5 ms");
    const hundred = await time(20, () =>
      run('await Promise.all(Array.from({ length: 100 }, () => inventory.getProduct({ sku: "SKU-001" })))'),
    );
    print("100 parallel calls of an upstream: p50 / p95", `${ms(hundred.p50)} / ${ms(hundred.p95)}`, "aim: 15 ms");
    print("executions per second, 4 at once", (await rate(800, 4, () => run("return 1"))).toFixed(0), "aim: 520");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** From the shell to the end of a process that did next to nothing, against an empty Node process. */
export function benchStart(): void {
  const empty = timeProcess(["-e", "0"]);
  const version = timeProcess(["bin/glovebox.js", "--version"]);
  console.log("\nStart");
  print(
    "glovebox --version against an empty Node",
    `${(version / empty).toFixed(2)} x`,
    `(${ms(version)} / ${ms(empty)})`,
  );
}

/** The middle one of five. */
function timeProcess(args: readonly string[]): number {
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    spawnSync(process.execPath, args, { stdio: "ignore" });
    return performance.now() - startedAt;
  });
  return times.toSorted((a, b) => a - b)[2] ?? Number.NaN;
}
