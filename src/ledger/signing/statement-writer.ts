/**
 * Signs the end of the chain at most once per second: a head beside the store each time, a checkpoint in the store after
 * 1,000 records or a minute, and both when the ledger is closed. Writing a record never waits for a signature.
 */

import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { LedgerHead } from "../record.ts";
import { findSuspicion } from "./find-suspicion.ts";
import { readHeadFile, writeHeadFile } from "./head-file.ts";
import type { FoundHead } from "./head-file.ts";
import type { Signer } from "../signer.ts";
import { toStatementText } from "../statement.ts";

export interface StatementWriterOptions {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** Absent for a store in memory. */
  readonly headFile?: string;
  readonly now: () => Instant;
  readonly schedule?: Readonly<typeof SCHEDULE>;
  /** True if a head existed at the start: then a missing head was removed. */
  readonly hasHead: boolean;
  /** Records that the ledger is not as it was left. If it rejects, nothing is signed. */
  readonly suspect: (suspicion: string, head: FoundHead | undefined) => Promise<void>;
}

export interface StatementWriter {
  /** Call after each durable batch. Returns at once. */
  advance(head: LedgerHead): void;
  /** Signs the current end and always writes a head. Does not reject: what fails is retried later. */
  sign(): Promise<void>;
  /** Records what is wrong with the ledger, if anything is. Does not reject. */
  check(): Promise<void>;
  /** Signs the end. Later calls of `advance` have no effect. */
  close(): Promise<void>;
}

/** When heads and checkpoints are signed. */
const SCHEDULE = { headMs: 1_000, checkpointMs: 60_000, records: 1_000 };
/** How many times another process may take the next number. */
const ATTEMPTS = 20;

/** `start` is the head of the ledger when it was opened. */
export function createStatementWriter(options: StatementWriterOptions, start: LedgerHead): StatementWriter {
  const { now, schedule = SCHEDULE } = options;
  let [latest, headSeq, checkpointSeq] = [start, start.seq, start.seq];
  let checkpointAt = now();
  let timer: NodeJS.Timeout | undefined;
  /** True while the timer is set for the next checkpoint only. */
  let isIdle = false;
  let work = Promise.resolve();
  let isClosed = false;
  let { hasHead } = options;

  /** Runs before each signature, so that a ledger that was changed is not signed. */
  const check = async (): Promise<void> => {
    const found = options.headFile === undefined ? undefined : await readHeadFile(options.headFile);
    const suspicion = await findSuspicion({ ...options, isFirst: !hasHead }, found);
    hasHead = typeof found === "object" && suspicion === undefined;
    if (suspicion !== undefined) await options.suspect(suspicion, found);
  };
  const sign = async (how: "due" | "closing" | "forced"): Promise<void> => {
    if (how === "forced" || latest.seq > Math.min(headSeq, checkpointSeq)) await check();
    const head = latest;
    const [records, ms] = [head.seq - checkpointSeq, now() - checkpointAt];
    const isDue = records > 0 && (how !== "due" || records >= schedule.records || ms >= schedule.checkpointMs);
    if (isDue) {
      await writeCheckpoint(options, head);
      [checkpointSeq, checkpointAt] = [head.seq, now()];
    }
    if (isDue || how === "forced" || head.seq > headSeq) hasHead = await writeHead(options, head);
    headSeq = head.seq;
  };
  /** Runs one action at a time. What fails is done by the next run. */
  const enqueue = (act: () => Promise<void>): Promise<void> => (work = work.then(act).catch(() => undefined));
  const arm = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isIdle = false;
      void enqueue(() => sign("due")).then(rearm);
    }, ms).unref();
  };
  const rearm = (): void => {
    timer = undefined;
    if (isClosed || latest.seq <= checkpointSeq) return;
    isIdle = latest.seq <= headSeq;
    arm(isIdle ? Math.max(schedule.headMs, checkpointAt + schedule.checkpointMs - now()) : schedule.headMs);
  };

  return {
    advance(head) {
      latest = head;
      if (isClosed || (timer && !isIdle)) return;
      isIdle = false;
      arm(schedule.headMs);
    },
    sign: () => enqueue(() => sign("forced")),
    check: () => enqueue(check),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await enqueue(() => sign("closing"));
    },
  };
}

async function writeCheckpoint(
  { store, signer, now }: StatementWriterOptions,
  { seq, digest }: LedgerHead,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const number = ((await store.statements.last())?.number ?? 0) + 1;
    const signed = await signer.sign({ kind: "checkpoint", number, seq, digest, at: now() });
    const { kind, at } = signed;
    if ((await store.statements.append({ number, kind, seq, at, text: toStatementText(signed) })) === "appended")
      return;
  }
}

/** Never replaces a head of another process that is further ahead. */
async function writeHead(options: StatementWriterOptions, { seq, digest }: LedgerHead): Promise<boolean> {
  const { store, signer, headFile, now } = options;
  if (headFile === undefined) return false;
  const found = await readHeadFile(headFile);
  if (typeof found === "object" && found.key === signer.key && found.seq > seq) return true;
  const number = (await store.statements.last())?.number ?? 0;
  await writeHeadFile(headFile, await signer.sign({ kind: "head", number, seq, digest, at: now() }));
  return true;
}
