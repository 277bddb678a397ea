/** Follows a chain record by record and says the first thing that is wrong. The input is not trusted. */

import { digestOf } from "../text/index.ts";
import { parseDigest } from "../domain/index.ts";
import type { Digest } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";

import { isIntact, parseLedgerRecord, toHashedText } from "./record.ts";
import type { LedgerRecord, DigestText, LedgerHead } from "./record.ts";

/** What the ledger turned out to be; `seq` is the first place where it is wrong. */
export interface LedgerProblem {
  readonly ok: false;
  readonly seq: number;
  readonly problem: string;
}

/** What must hold beside the chain itself. */
export interface ChainRules {
  /** SHA-256 when left out. */
  readonly digest?: DigestText;
  /** Places that somebody signed: the record of that number has that digest. */
  readonly signed?: ReadonlyMap<number, Digest>;
}

/** One walk along a chain. */
export interface ChainCheck {
  /** The next record; anything that is no record is a finding, never an exception. */
  add(raw: unknown): LedgerProblem | undefined;
  /** The next record as the store has it: its text is hashed as it stands, which costs a fraction of reading it. */
  addStored(record: StoredRecord): LedgerProblem | undefined;
  /** Where the walk has come to. */
  last(): LedgerHead;
  /** What a record itself says against the ledger: the gateway found it changed when it started. */
  suspicion(): LedgerProblem | undefined;
}

/** What the gateway writes when it finds the ledger other than it left it. */
export const SUSPECT = "ledger.suspect";

/** Begins behind `start`. */
export function createChainCheck(start: LedgerHead, { digest = digestOf, signed }: ChainRules = {}): ChainCheck {
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
      return step(record, () => record !== undefined && isIntact(record, digest));
    },
    addStored(record) {
      const [previous, found] = [parseDigest(record.previous), parseDigest(record.digest)];
      const isSafe = Number.isSafeInteger(record.seq) && Number.isSafeInteger(record.at);
      const parsed = isSafe && previous && found ? { ...record, previous, digest: found } : undefined;
      return step(parsed, () => digest(toHashedText(record)) === found);
    },
    last: () => last,
    suspicion: () => suspicion,
  };
}

/** What the chain itself is about. */
type ChainLink = Pick<LedgerRecord, "seq" | "previous" | "digest" | "action" | "subject">;

function findProblem(record: ChainLink, last: LedgerHead, isWhole: () => boolean): string | undefined {
  const expected = last.seq + 1;
  if (record.seq > expected) return `records are missing: ${record.seq} follows ${last.seq}`;
  if (record.seq < expected) return `record ${record.seq} is repeated or out of order`;
  if (!isWhole()) return "the record was changed";
  if (record.previous !== last.digest) return "the record does not follow the one before";
  return undefined;
}
