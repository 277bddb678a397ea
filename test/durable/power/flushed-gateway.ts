/** A gateway in its own process that can lose its power at any moment, and what is left of its store then. */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

import type { ExecutionResult } from "../../../src/domain/index.ts";
import { createSigner, openReader } from "../../../src/ledger/index.ts";
import { openStore } from "../../../src/store/index.ts";
import { probe } from "../../fixtures/product.ts";
import { startGateway } from "../kills/gateway-process.ts";

const STORE = "glovebox.db";

/** One state of the store on the disk: the folder that has a copy of it. */
export type DiskState = string;

export interface FlushedGateway extends AsyncDisposable {
  readonly folder: string;
  /** Returns the result, and what was on disk when it arrived. */
  execute(code: string): Promise<{ readonly result: ExecutionResult; readonly disk: DiskState }>;
  /** The state of an execution that is suspended or resumes. */
  resume(id: string): Promise<ExecutionResult>;
  /** What was on disk when each `probe.change` arrived at the server. */
  changes(): readonly DiskState[];
  /** What is on disk now. */
  disk(): DiskState;
  /** Ends the gateway with its machine. A gateway in another folder finds what was on disk, and the signed head. */
  cutPower(disk: DiskState): Promise<FlushedGateway>;
  /** The problem that `audit verify` would report; the gateway must not run. */
  verify(): Promise<string | undefined>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

/** `store` and `policy` are sections of the configuration. */
export async function openFlushedGateway(
  config: { readonly store?: object; readonly policy?: object } = {},
): Promise<FlushedGateway> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-power-"));
  const server = probe("--log", join(folder, "changes.log"), "--link", join(folder, "flushed", "now"));
  const whole = {
    mcpServers: { probe: server },
    analysis: { types: "off" },
    approvals: { graceMs: 0 },
    ...config,
    store: { url: `sqlite:${STORE}`, ...config.store },
  };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(whole));
  return start(folder);
}

async function start(folder: string): Promise<FlushedGateway> {
  const flushed = join(folder, "flushed");
  mkdirSync(flushed);
  const gateway = startGateway(folder, { FLUSHED: flushed });
  const client = (await gateway.ready) ?? assert.fail("the gateway did not start");
  const disk = (): DiskState => readlinkSync(join(flushed, "now"));
  const kill = async (): Promise<void> => {
    gateway.kill();
    await gateway.died;
  };
  const call = async (name: string, given: Record<string, string>): Promise<ExecutionResult> =>
    (await client.callTool({ name, arguments: given })).structuredContent as ExecutionResult;
  return {
    folder,
    disk,
    kill,
    execute: async (code) => ({ result: await call("execute", { code, detail: "full" }), disk: disk() }),
    resume: (execution) => call("resume", { execution, detail: "full" }),
    changes() {
      const log = join(folder, "changes.log");
      return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    },
    async cutPower(left) {
      await kill();
      const other = mkdtempSync(join(tmpdir(), "glovebox-power-"));
      const isKept = (path: string): boolean =>
        path !== flushed && !path.includes(STORE.concat("-")) && !path.endsWith(".sock");
      cpSync(folder, other, { recursive: true, filter: isKept });
      cpSync(left, other, { recursive: true });
      return start(other);
    },
    verify: () => verify(folder),
    async [Symbol.asyncDispose]() {
      await client.close().catch(() => undefined);
      if (gateway.isAlive()) await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function verify(folder: string): Promise<string | undefined> {
  await using store = await openStore({ path: join(folder, STORE), now: Date.now });
  const signer = createSigner(Buffer.from(readFileSync(join(folder, "ledger.key"), "utf8").trim(), "hex"));
  const reader = openReader({ store, signer, headFile: join(folder, `${STORE}.head`), now: Date.now });
  const verdict = await reader.verify();
  return verdict.ok ? undefined : `record ${verdict.seq}: ${verdict.problem}`;
}

/** The records in a state of the disk. */
export interface DiskRecords {
  /** Such as `call.intended probe.change`, in order. */
  readonly ledger: readonly string[];
  /** The state of each execution; `null` until it has ended. */
  readonly executions: ReadonlyMap<string, string | null>;
  /** The number of journal parts of each execution. */
  readonly journals: ReadonlyMap<string, number>;
  readonly approvals: number;
}

/** Reads a copy: opening the store would change it. */
export function readDisk(disk: DiskState): DiskRecords {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-disk-"));
  cpSync(disk, folder, { recursive: true });
  const database = new DatabaseSync(join(folder, STORE));
  try {
    const all = (sql: string) => database.prepare(sql).all();
    const executions = all("SELECT id, state FROM executions");
    const journals = all("SELECT execution, count(*) AS pieces FROM journals GROUP BY execution");
    return {
      ledger: all("SELECT action, subject FROM ledger ORDER BY seq").map(
        ({ action, subject }) => `${String(action)} ${String(subject)}`,
      ),
      executions: new Map(executions.map(({ id, state }) => [String(id), state === null ? null : String(state)])),
      journals: new Map(journals.map(({ execution, pieces }) => [String(execution), Number(pieces)])),
      approvals: all("SELECT id FROM approvals").length,
    };
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** True if the end of the execution is on disk: in the ledger, and in the store with its journal. */
export function hasEnd({ ledger, executions, journals }: DiskRecords, id: string): boolean {
  const isClosed = ledger.includes(`execution.closed ${id}`) && executions.get(id) === "completed";
  return isClosed && (journals.get(id) ?? 0) > 0;
}

const TRIES = 40;
/** Longer than any flush is delayed, even on a busy machine. */
const FLUSH_MS = 20_000;

/**
 * Runs programs that only read until one is answered before its end is on disk. Returns false if there is none. On a busy
 * machine an execution can take longer than a flush is delayed, so that single ones prove nothing.
 */
export async function answersBeforeFlush(gateway: FlushedGateway): Promise<boolean> {
  for (let n = 0; n < TRIES; n += 1) {
    const { result, disk } = await gateway.execute(`return await probe.echo({ n: ${n} })`);
    if (!hasEnd(readDisk(disk), result.execution)) return true;
  }
  return false;
}

/** Resolves with the first state of the disk that has the end of the execution, or fails. */
export async function untilOnDisk(gateway: FlushedGateway, id: string): Promise<DiskState> {
  for (const deadline = performance.now() + FLUSH_MS; performance.now() < deadline; await wait(20)) {
    const disk = gateway.disk();
    if (hasEnd(readDisk(disk), id)) return disk;
  }
  return assert.fail(`the end of ${id} was not flushed`);
}
