/** Checks a chain of records without the store that wrote it: every record, and that each follows the one before. */

import { createChainCheck } from "./chain-check.ts";
import type { LedgerProblem } from "./chain-check.ts";
import { GENESIS } from "./record.ts";
import type { DigestText, LedgerHead } from "./record.ts";
import type { PublicKey } from "./signing/public-key.ts";

/** A ledger without a finding. */
export interface IntactLedger {
  readonly ok: true;
  readonly records: number;
  /** Where it begins, when earlier records were dropped on purpose. */
  readonly first?: number;
  /** The last record that a signature covers; later ones are chained, and signed within a second. */
  readonly signed?: number;
  /** Who signed. */
  readonly key?: PublicKey;
}

/** What the ledger turned out to be. */
export type LedgerVerdict = IntactLedger | LedgerProblem;

/** What is known from elsewhere about the ledger. */
export interface VerifyOptions {
  /** Where the chain is known to end. Without it, records cut off the end are not missed. */
  readonly head?: LedgerHead;
  /** SHA-256 when left out. */
  readonly digest?: DigestText;
}

/**
 * Finds edits, removals, insertions and reorderings. A chain alone cannot show that its end was cut off, nor that all
 * of it was written anew: that is what `verifyStore` and `verifyExport` look at signatures for.
 */
export async function verifyLedger(
  records: AsyncIterable<unknown> | Iterable<unknown>,
  { head, digest }: VerifyOptions = {},
): Promise<LedgerVerdict> {
  const check = createChainCheck(GENESIS, digest ? { digest } : {});
  for await (const raw of records) {
    const problem = check.add(raw);
    if (problem) return problem;
  }
  const last = check.last();
  if (!head || (head.seq === last.seq && head.digest === last.digest)) return { ok: true, records: last.seq };
  return { ok: false, seq: last.seq + 1, problem: `the ledger should end at record ${head.seq} with ${head.digest}` };
}
