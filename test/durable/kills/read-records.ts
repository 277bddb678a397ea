/** Reads the records of a killed gateway from another process: rows, journals, and whether the ledger verifies. */

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { SQLOutputValue } from "node:sqlite";

import type { Settings } from "../../../src/config/index.ts";
import { parseExecutionId } from "../../../src/domain/index.ts";
import type { Digest, ExecutionId, ExecutionResult } from "../../../src/domain/index.ts";
import { openJournals } from "../../../src/execution/index.ts";
import { openRecords, readRecords } from "../../../src/open-records.ts";
import type { Records } from "../../../src/open-records.ts";
import { seedOf } from "./kill-programs.ts";

/** One execution in the store. */
export interface ExecutionRow {
  readonly id: ExecutionId;
  readonly seed: number;
  /** `null` until it has ended or is suspended. */
  readonly state: string | null;
  readonly errorCode: string | null;
}

/** Empty before the store exists. */
export function readRows(settings: Settings): readonly ExecutionRow[] {
  return query(settings, "SELECT id, source_text, state, error_code FROM executions").map(parseRow);
}

/** Returns the result of an execution that has ended or is suspended. */
export async function readResult(
  id: ExecutionId,
  { store }: Pick<Records, "store">,
): Promise<ExecutionResult | undefined> {
  const ending = (await store.executions.find(id))?.ending;
  return ending ? (JSON.parse(ending.result) as ExecutionResult) : undefined;
}

/** How many executions are in each state; those that have neither ended nor are suspended count as `running`. */
export function countStates(settings: Settings): ReadonlyMap<string, number> {
  const sql = "SELECT coalesce(state, 'running') AS state, count(*) AS count FROM executions GROUP BY state";
  return new Map(query(settings, sql).map(({ state, count }) => [String(state), Number(count)]));
}

/** The ledger actions of each execution itself, such as `opened`, in order. */
export function readLedger(settings: Settings): ReadonlyMap<string, readonly string[]> {
  const sql = "SELECT subject, action FROM ledger WHERE action LIKE 'execution.%' ORDER BY seq";
  const said = query(settings, sql).map(({ subject, action }) => ({ subject, action: String(action).slice(10) }));
  const grouped = Map.groupBy(said, ({ subject }) => String(subject));
  return new Map([...grouped].map(([subject, records]) => [subject, records.map(({ action }) => action)]));
}

function query({ store }: Settings, sql: string): readonly Record<string, SQLOutputValue>[] {
  if (!existsSync(store.path)) return [];
  const database = new DatabaseSync(store.path, { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare(sql).all();
  } catch (thrown) {
    if (thrown instanceof Error && /no such table/.test(thrown.message)) return [];
    throw thrown;
  } finally {
    database.close();
  }
}

export function isOver({ state }: ExecutionRow): boolean {
  return state !== null && state !== "paused";
}

function parseRow(row: Record<string, SQLOutputValue>): ExecutionRow {
  const { source_text: source, state, error_code: code } = row;
  const id = parseExecutionId(row["id"]);
  if (!id) throw new TypeError("A row has an invalid id");
  return {
    id,
    seed: seedOf(String(source)),
    state: typeof state === "string" ? state : null,
    errorCode: typeof code === "string" ? code : null,
  };
}

/** Returns the problem that `audit verify` would report. */
export async function verify(settings: Settings): Promise<readonly string[]> {
  if (!existsSync(settings.store.path)) return [];
  await using records = await readRecords(settings);
  const verdict = await records.openReader().verify();
  return verdict.ok ? [] : [`the ledger does not verify: record ${verdict.seq}: ${verdict.problem}`];
}

/** The records, opened beside any gateway. */
export interface OpenRecords extends AsyncDisposable, Pick<Records, "store" | "ledger" | "vault"> {
  readonly journals: ReturnType<typeof openJournals>;
}

export async function openStoreRecords(settings: Settings): Promise<OpenRecords> {
  const records = await openRecords(settings);
  const seal = await records.vault.openSeal();
  const journals = openJournals({ store: records.store.journals, seal, now: Date.now, ...settings.journal });
  return { ...records, journals };
}

/** How far a program was when its gateway was killed. */
export interface Progress {
  readonly hasBegun: boolean;
  /** The address and arguments of each call whose response is in the journal. */
  readonly answered: ReadonlySet<Digest>;
}

/** `undefined` without a journal. */
export async function readProgress(id: ExecutionId, { journals }: OpenRecords): Promise<Progress | undefined> {
  const recording = await journals.read(id);
  if (!recording) return undefined;
  const answered = new Set(recording.deliveries.flatMap(({ call }) => (call ? [call.request] : [])));
  return { hasBegun: recording.started !== undefined, answered };
}
