/** Measures the ledger on disk: the cost of an append, the records per second, and the time to verify all of them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSigner, openReader, openSignedLedger, parseLedgerLine, verifyExport } from "../src/ledger/index.ts";
import type { Ledger } from "../src/ledger/index.ts";
import { openStore } from "../src/store/index.ts";
import { ms, print, time } from "./measure.ts";

const RECORDS = 100_000;
const AT_ONCE = 1_000;
const SEED = Uint8Array.from({ length: 32 }, (_, index) => index * 7 + 1);

/** The same size as the record of an ended call. */
function write(ledger: Ledger, n: number): Promise<unknown> {
  const digest = `sha256:${(n % 10).toString().repeat(64)}`;
  const detail = {
    execution: `ex_${"a".repeat(24)}`,
    seq: n,
    outcome: n % 50 === 0 ? "error" : "ok",
    result: digest,
    ms: 3,
  };
  return ledger.write({ actor: "local", action: "call.ended", subject: `inventory.tool${n % 20}`, detail });
}

export async function benchLedger(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  const path = join(folder, "bench.db");
  const signer = createSigner(SEED);
  const where = { signer, headFile: `${path}.head`, now: Date.now };
  try {
    await using store = await openStore({ path, now: Date.now });
    console.log("\nLedger (on disk, signed)");
    {
      await using ledger = await openSignedLedger({ store, isNewKey: true, ...where });
      const alone = await time(200, () => write(ledger, 1));
      print("one append by itself, durable: p50 / p95", `${ms(alone.p50)} / ${ms(alone.p95)}`);
      const startedAt = performance.now();
      for (let n = 200; n < RECORDS; n += AT_ONCE) {
        const count = Math.min(AT_ONCE, RECORDS - n);
        await Promise.all(Array.from({ length: count }, (_, more) => write(ledger, n + more)));
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      print(`records per second, ${AT_ONCE} at once`, ((RECORDS - 200) / seconds).toFixed(0));
      print("cost of one of those", `${((seconds * 1e6) / (RECORDS - 200)).toFixed(0)} µs`);
    }
    const reader = openReader({ store, ...where });
    const checked = await time(3, () => reader.verify());
    print(`verify the store, ${RECORDS} records`, ms(checked.p50), "aim: 2000 ms");
    const lines: string[] = [];
    for await (const line of reader.export()) lines.push(line);
    const offline = await time(3, () => verifyExport(lines.map(parseLedgerLine), signer.key));
    print(`verify an export, ${RECORDS} records`, ms(offline.p50), "aim: 2000 ms");
    const found = await time(5, () => reader.search({ limit: 50, subject: "none", outcome: "error" }));
    print(`search without a match, ${RECORDS} records`, ms(found.p50));
    const one = await time(5, () => reader.search({ limit: 50, execution: "ex_none", since: 1 }));
    print(`search for an execution that is not there`, ms(one.p50));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
