/** Checks a ledger without the store that wrote it: every record, and that each follows the one before. */

import { digestOf } from "./digest-of.ts";
import { GENESIS, isIntact, parseAuditRecord } from "./record.ts";
import type { DigestText, LedgerHead } from "./record.ts";

/** What the ledger turned out to be; `seq` is the first place where it is wrong. */
export type LedgerVerdict =
  | { readonly ok: true; readonly records: number }
  | { readonly ok: false; readonly seq: number; readonly problem: string };

/** What is known from elsewhere about the ledger. */
export interface VerifyOptions {
  /** Where the chain is known to end. Without it, records cut off the end are not missed. */
  readonly head?: LedgerHead;
  /** SHA-256 when left out. */
  readonly digest?: DigestText;
}

/**
 * Finds edits, removals, insertions and reorderings. A chain alone cannot show that its end was cut off,
 * nor that all of it was written anew: that takes a head kept in another place (`head`), or signed checkpoints.
 * The input is not trusted: anything that is no record is a finding, never an exception.
 */
export async function verifyLedger(
  records: AsyncIterable<unknown> | Iterable<unknown>,
  options: VerifyOptions = {},
): Promise<LedgerVerdict> {
  let last = GENESIS;
  for await (const raw of records) {
    const checked = checkRecord(raw, last, options.digest ?? digestOf);
    if ("problem" in checked) return { ok: false, seq: last.seq + 1, problem: checked.problem };
    last = checked;
  }
  const { head } = options;
  if (!head || (head.seq === last.seq && head.digest === last.digest)) return { ok: true, records: last.seq };
  return { ok: false, seq: last.seq + 1, problem: `the ledger should end at record ${head.seq} with ${head.digest}` };
}

function checkRecord(raw: unknown, last: LedgerHead, digest: DigestText): LedgerHead | { readonly problem: string } {
  const expected = last.seq + 1;
  const record = parseAuditRecord(raw);
  if (!record) return { problem: "this is not a ledger record" };
  if (record.seq > expected) return { problem: `records are missing: ${record.seq} follows ${last.seq}` };
  if (record.seq < expected) return { problem: `record ${record.seq} is repeated or out of order` };
  if (!isIntact(record, digest)) return { problem: "the record was changed" };
  if (record.previous !== last.digest) return { problem: "the record does not follow the one before" };
  return record;
}
