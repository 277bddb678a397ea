/** Verifies a chain record by record and returns the first problem. The input is untrusted. */

import { digestOf } from "../text/index.ts";
import { parseDigest } from "../domain/index.ts";
import type { Digest } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";

import { parseLedgerRecord, toHashedText } from "./record.ts";
import type { LedgerHead, LedgerRecord } from "./record.ts";
import type { PublicKey } from "./statement.ts";

/** `seq` is the first record that is wrong. */
export interface LedgerProblem {
  readonly ok: false;
  readonly seq: number;
  readonly problem: string;
}

/** A ledger without problems. */
export interface IntactLedger {
  readonly ok: true;
  readonly records: number;
  /** The first record, if earlier ones were dropped on purpose. */
  readonly first?: number;
  /** The last record that a signature covers. Later records are signed within a second. */
  readonly signed?: number;
  /** The key of the signatures. */
  readonly key?: PublicKey;
}

export type LedgerVerdict = IntactLedger | LedgerProblem;

export interface ChainCheck {
  /** Checks the next record. Anything that is not a record is a problem, never an exception. */
  add(raw: unknown): LedgerProblem | undefined;
  /** Checks the next stored record. Hashes its text as stored, which is much cheaper than parsing it. */
  addStored(record: StoredRecord): LedgerProblem | undefined;
  /** Returns the last record that was checked. */
  last(): LedgerHead;
  /** Returns the first record in which the gateway itself noted that the ledger was changed. */
  suspicion(): LedgerProblem | undefined;
}

/** The action of a record that the gateway writes when the ledger is not as it left it. */
export const SUSPECT = "ledger.suspect";

/** Starts after `start`. `signed` has signed digests by record number. */
export function createChainCheck(start: LedgerHead, signed?: ReadonlyMap<number, Digest>): ChainCheck {
  let last = start;
  let suspicion: LedgerProblem | undefined;
  const step = (record: ChainLink | undefined, isWhole: () => boolean): LedgerProblem | undefined => {
    const seq = last.seq + 1;
    const problem = record ? findProblem(record, last, isWhole) : "this is not a ledger record";
    if (problem !== undefined || !record) return { ok: false, seq, problem: problem ?? "" };
    if ((signed?.get(seq) ?? record.digest) !== record.digest)
      return { ok: false, seq, problem: "the record is not the one that was signed" };
    if (record.action === SUSPECT) suspicion ??= { ok: false, seq, problem: `noted by the gateway: ${record.subject}` };
    last = { seq, digest: record.digest };
    return undefined;
  };
  return {
    add(raw) {
      const record = parseLedgerRecord(raw);
      const { digest, ...body } = record ?? {};
      return step(record, () => digestOf(body) === digest);
    },
    addStored(record) {
      const [previous, found] = [parseDigest(record.previous), parseDigest(record.digest)];
      const isSafe = Number.isSafeInteger(record.seq) && Number.isSafeInteger(record.at);
      const parsed = isSafe && previous && found ? { ...record, previous, digest: found } : undefined;
      return step(parsed, () => digestOf(toHashedText(record)) === found);
    },
    last: () => last,
    suspicion: () => suspicion,
  };
}

/** The fields that make up the chain. */
type ChainLink = Pick<LedgerRecord, "seq" | "previous" | "digest" | "action" | "subject">;

function findProblem(record: ChainLink, last: LedgerHead, isWhole: () => boolean): string | undefined {
  const expected = last.seq + 1;
  if (record.seq > expected) return `records are missing: ${record.seq} follows ${last.seq}`;
  if (record.seq < expected) return `record ${record.seq} is repeated or out of order`;
  if (!isWhole()) return "the record was changed";
  if (record.previous !== last.digest) return "the record does not follow the one before";
  return undefined;
}
