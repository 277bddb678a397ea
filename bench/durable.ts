/** Measures the cost of journals, and how long it takes to suspend and to resume a program. */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { openLedger } from "../src/ledger/open-ledger.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import { openJournals } from "../src/execution/index.ts";
import { createExecutionId } from "../src/host-powers.ts";
import { LOCAL } from "../src/identity/index.ts";
import { NAMESPACES, openTestSandbox, programOf } from "../src/sandbox/fixtures/test-sandbox.ts";
import type { Delivery, Sandbox, SandboxResult, Tape } from "../src/sandbox/index.ts";
import { openStore } from "../src/store/index.ts";
import { openVault } from "../src/vault/index.ts";
import { OPERATOR, openDurableGateways, run, waitForState } from "../test/fixtures/durable-gateway.ts";
import { ms, print, time } from "./measure.ts";

const CALLS = 1_000;
const ROUNDS = 9;
const LENGTHS = [10, 100, 1_000];
const MIB = 1024 * 1024;
const LIMITS = { ...DEFAULT_LIMITS, calls: 2_000, wallMs: 120_000 };
/** The response of a small tool. */
const ANSWER = JSON.stringify({ name: "bolt M8", stock: 120, tags: ["steel", "zinc"], note: "x".repeat(300) });
const LOOP = `for (let n = 0; n < ${CALLS}; n += 1) await files.read({ n }); return 1;`;

export async function benchDurable(): Promise<void> {
  console.log("\nDurable executions");
  await benchJournal();
  for (const length of LENGTHS) await benchReturn(length);
}

/** Runs the same program with and without a journal on disk, in one isolate each; the host answers immediately. */
async function benchJournal(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  const path = join(folder, "bench.db");
  try {
    await using store = await openStore({ path, now: Date.now });
    await using ledger = await openLedger({ store, now: Date.now });
    const keyFile = join(folder, "key");
    await using vault = openVault({ store, ledger, keyFile, random: randomBytes, now: Date.now });
    const seal = await vault.openSeal();
    const bounds = { keepMs: 60_000, totalBytes: 64 * MIB, executionBytes: 64 * MIB };
    const journals = openJournals({ store: store.journals, seal, now: Date.now, ...bounds });
    const { sandbox } = await openTestSandbox({ limits: LIMITS });
    const [plain, kept]: [number[], number[]] = [[], []];
    // Alternating, so that other load on the machine affects both.
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push((await time(1, () => runLoop(sandbox))).p50);
      kept.push((await time(1, () => runKept(sandbox, journals))).p50);
    }
    await benchTape(sandbox);
    await sandbox[Symbol.asyncDispose]();
    const [without, withOne] = [median(plain), median(kept)];
    print("a call that an isolate makes, without / with a journal", `${us(without)} / ${us(withOne)}`);
    print("cost of the journal per call", us(withOne - without));
    const bytes = Math.round(bytesIn(path) / (ROUNDS * CALLS));
    print(`bytes on disk per call (answers of ${ANSWER.length} bytes)`, String(bytes));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Runs the same program first without and then with a journal of all its deliveries: the difference is the cost of
 * resuming.
 */
async function benchTape(sandbox: Sandbox): Promise<void> {
  const past: Delivery[] = [];
  const create = (given: readonly Delivery[], keep: Tape["keep"]): Tape => ({
    start: { seed: [1, 2, 3, 4], atMs: 0 },
    past: given,
    began: () => undefined,
    repeat: () => undefined,
    keep,
  });
  const first = await runLoop(
    sandbox,
    create([], (delivery) => {
      past.push(delivery);
      return undefined;
    }),
  );
  const again = await runLoop(
    sandbox,
    create(past, () => undefined),
  );
  const show = ({ wallMs, cpuMs }: SandboxResult["usage"]): string => `${wallMs.toFixed(0)} / ${cpuMs.toFixed(0)} ms`;
  print(`${CALLS} calls for the first time, wall / CPU of the isolate`, show(first));
  print(`${CALLS} calls from the journal, wall / CPU of the isolate`, show(again), "aim: 300 ms more at most");
}

function us(total: number): string {
  return `${((total * 1_000) / CALLS).toFixed(0)} µs`;
}

function bytesIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("SELECT sum(length(sealed)) AS bytes FROM journals").get();
  database.close();
  return Number(row?.["bytes"] ?? 0);
}

async function runLoop(sandbox: Sandbox, tape?: Tape): Promise<SandboxResult["usage"]> {
  const { ending, usage } = await sandbox.run({
    program: programOf(LOOP),
    namespaces: NAMESPACES,
    limits: LIMITS,
    host: { call: () => Promise.resolve({ ok: true, json: ANSWER }) },
    principal: LOCAL.id,
    signal: new AbortController().signal,
    ...(tape && { tape }),
  });
  if (ending.kind !== "returned") throw new Error(`The program ended as ${ending.kind}`);
  return usage;
}

/** Like an execution of reads: each response is written before it is delivered, and is on disk before the end. */
async function runKept(sandbox: Sandbox, journals: ReturnType<typeof openJournals>): Promise<void> {
  const journal = journals.begin(createExecutionId());
  const keep = (delivery: Delivery): Promise<void> => {
    journal.note({ kind: "given", delivery });
    return journal.write();
  };
  await runLoop(sandbox, { past: [], began: () => undefined, repeat: () => undefined, keep });
  await journal.flush();
}

/** A program that makes this many reads and then needs approval. */
async function benchReturn(length: number): Promise<void> {
  await using durable = await openDurableGateways({
    config: { approvals: { graceMs: 0 }, sandbox: { limits: { calls: 2_000, wallMs: 120_000 } } },
  });
  const gateway = await durable.open();
  const approvals = await durable.openApprovals();
  const code = `for (let n = 0; n < ${length}; n += 1) await shop.look({ n }); await shop.pay({ n: 0 }); return 1;`;
  const paused = await run(gateway, code);
  const asked = (await approvals.list({ execution: paused.execution }))[0];
  if (!asked) throw new Error(`The program was not suspended: ${JSON.stringify(paused.error)}`);
  const pauseMs = Date.now() - asked.createdAt;
  await approvals.decide(asked.id, { verdict: "approve" }, OPERATOR);
  const { stats } = await waitForState(gateway, paused.execution, "completed", "failed");
  const [wallMs, cpuMs] = [stats.wallMs - paused.stats.wallMs, stats.cpuMs - paused.stats.cpuMs];
  print(`after ${length} calls: suspended once approval is requested`, ms(pauseMs));
  print(`after ${length} calls: resumed until the end, wall / CPU`, `${ms(wallMs)} / ${ms(cpuMs)}`);
}
