/**
 * Signs where the chain has come to, at most once a second: a head beside the store each time, a checkpoint in it after a
 * thousand records or a minute, both when the ledger is closed. Nobody who writes a record waits for any of this.
 */

import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { LedgerHead } from "../record.ts";
import { readHeadFile, writeHeadFile } from "./head-file.ts";
import type { Signer } from "./signer.ts";
import { toStatementText } from "./statement.ts";

/** How often is signed. */
export interface Pace {
  readonly headMs: number;
  readonly checkpointMs: number;
  readonly records: number;
}

export interface KeeperOptions {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** Left out for a store in memory. */
  readonly headFile?: string;
  readonly now: () => Instant;
  readonly pace?: Pace;
}

/** Follows one writer of the ledger. */
export interface Keeper {
  /** Takes note and returns at once. */
  note(head: LedgerHead): void;
  /** Signs what has come in so far, and writes a head in any case. Does not reject: what fails is tried again later. */
  sign(): Promise<void>;
  /** Signs the end; later notes are forgotten. */
  close(): Promise<void>;
}

const PACE: Pace = { headMs: 1_000, checkpointMs: 60_000, records: 1_000 };
/** How often another process may take the next number first. */
const ATTEMPTS = 20;

/** `start` is where the chain ended when it was opened. */
export function keepStatements(options: KeeperOptions, start: LedgerHead): Keeper {
  const { now, pace = PACE } = options;
  let [latest, headSeq, checkpointSeq] = [start, start.seq, start.seq];
  let checkpointAt = now();
  let timer: NodeJS.Timeout | undefined;
  let work = Promise.resolve();
  let isClosed = false;

  const sign = async (how: "due" | "end" | "anew"): Promise<void> => {
    const head = latest;
    const [records, ms] = [head.seq - checkpointSeq, now() - checkpointAt];
    const isDue = records > 0 && (how !== "due" || records >= pace.records || ms >= pace.checkpointMs);
    if (isDue) {
      await writeCheckpoint(options, head);
      [checkpointSeq, checkpointAt] = [head.seq, now()];
    }
    if (isDue || how === "anew" || head.seq > headSeq) await writeHead(options, head);
    headSeq = head.seq;
  };
  /** One at a time. What fails stays undone, and the next turn does it. */
  const turn = (how: "due" | "end" | "anew"): Promise<void> =>
    (work = work.then(() => sign(how)).catch(() => undefined));
  const arm = (ms: number): void => {
    timer = setTimeout(() => {
      void turn("due").then(() => {
        timer = undefined;
        if (latest.seq > headSeq && !isClosed) arm(pace.headMs);
      });
    }, ms).unref();
  };

  return {
    note(head) {
      latest = head;
      if (!timer && !isClosed) arm(pace.headMs);
    },
    sign: () => turn("anew"),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await turn("end");
    },
  };
}

async function writeCheckpoint({ store, signer, now }: KeeperOptions, { seq, digest }: LedgerHead): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const number = ((await store.statements.last())?.number ?? 0) + 1;
    const signed = await signer.sign({ kind: "checkpoint", number, seq, digest, at: now() });
    const { kind, at } = signed;
    if ((await store.statements.append({ number, kind, seq, at, text: toStatementText(signed) })) === "appended")
      return;
  }
}

/** Of several processes the one that is further on has the last word: a head never goes back. */
async function writeHead({ store, signer, headFile, now }: KeeperOptions, { seq, digest }: LedgerHead): Promise<void> {
  if (headFile === undefined) return;
  const found = await readHeadFile(headFile);
  if (typeof found === "object" && found.key === signer.key && found.seq > seq) return;
  const number = (await store.statements.last())?.number ?? 0;
  await writeHeadFile(headFile, await signer.sign({ kind: "head", number, seq, digest, at: now() }));
}
