/**
 * Signs where the chain has come to, at most once a second: a head beside the store each time, a checkpoint in it after a
 * thousand records or a minute, both when the ledger is closed. Nobody who writes a record waits for any of this.
 */

import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { LedgerHead } from "../record.ts";
import { findSuspicion } from "./find-suspicion.ts";
import { readHeadFile, writeHeadFile } from "./head-file.ts";
import type { FoundHead } from "./head-file.ts";
import type { Signer } from "./signer.ts";
import { toStatementText } from "./statement.ts";

/** How often is signed. */
export interface SigningSchedule {
  readonly headMs: number;
  readonly checkpointMs: number;
  readonly records: number;
}

export interface StatementWriterOptions {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** Left out for a store in memory. */
  readonly headFile?: string;
  readonly now: () => Instant;
  readonly schedule?: SigningSchedule;
  /** True when a head was there at the start: then one that is missing later was taken away. */
  readonly hasHead: boolean;
  /** Writes down that the ledger is not as it was left. When it rejects, nothing is signed. */
  readonly suspect: (suspicion: string, head: FoundHead | undefined) => Promise<void>;
}

/** Follows one writer of the ledger. */
export interface StatementWriter {
  /** Takes note and returns at once. */
  advance(head: LedgerHead): void;
  /** Signs what has come in so far, and writes a head in any case. Does not reject: what fails is tried again later. */
  sign(): Promise<void>;
  /** Writes down what is wrong with the ledger, if anything is. Does not reject. */
  check(): Promise<void>;
  /** Signs the end; later notes are forgotten. */
  close(): Promise<void>;
}

const SCHEDULE: SigningSchedule = { headMs: 1_000, checkpointMs: 60_000, records: 1_000 };
/** How often another process may take the next number first. */
const ATTEMPTS = 20;

/** `start` is where the chain ended when it was opened. */
export function createStatementWriter(options: StatementWriterOptions, start: LedgerHead): StatementWriter {
  const { now, schedule = SCHEDULE } = options;
  let [latest, headSeq, checkpointSeq] = [start, start.seq, start.seq];
  let checkpointAt = now();
  let timer: NodeJS.Timeout | undefined;
  /** True while the timer only waits for the next checkpoint. */
  let isIdle = false;
  let work = Promise.resolve();
  let isClosed = false;
  let { hasHead } = options;

  /** Whoever changed what is signed already must not get a signature for it. */
  const check = async (): Promise<void> => {
    const found = options.headFile === undefined ? undefined : await readHeadFile(options.headFile);
    const suspicion = await findSuspicion({ ...options, isFirst: !hasHead }, found);
    hasHead = typeof found === "object" && suspicion === undefined;
    if (suspicion !== undefined) await options.suspect(suspicion, found);
  };
  const sign = async (how: "due" | "end" | "anew"): Promise<void> => {
    if (how === "anew" || latest.seq > Math.min(headSeq, checkpointSeq)) await check();
    const head = latest;
    const [records, ms] = [head.seq - checkpointSeq, now() - checkpointAt];
    const isDue = records > 0 && (how !== "due" || records >= schedule.records || ms >= schedule.checkpointMs);
    if (isDue) {
      await writeCheckpoint(options, head);
      [checkpointSeq, checkpointAt] = [head.seq, now()];
    }
    if (isDue || how === "anew" || head.seq > headSeq) hasHead = await writeHead(options, head);
    headSeq = head.seq;
  };
  /** One at a time. What fails stays undone, and the next turn does it. */
  const turn = (act: () => Promise<void>): Promise<void> => (work = work.then(act).catch(() => undefined));
  const arm = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isIdle = false;
      void turn(() => sign("due")).then(rearm);
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
    sign: () => turn(() => sign("anew")),
    check: () => turn(check),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await turn(() => sign("end"));
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

/** Of several processes the one that is further on has the last word: a head never goes back. */
async function writeHead(options: StatementWriterOptions, { seq, digest }: LedgerHead): Promise<boolean> {
  const { store, signer, headFile, now } = options;
  if (headFile === undefined) return false;
  const found = await readHeadFile(headFile);
  if (typeof found === "object" && found.key === signer.key && found.seq > seq) return true;
  const number = (await store.statements.last())?.number ?? 0;
  await writeHeadFile(headFile, await signer.sign({ kind: "head", number, seq, digest, at: now() }));
  return true;
}
