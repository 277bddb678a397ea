/** Verifies a chain of records without its store. */

import { defined } from "../domain/index.ts";

import { createChainCheck } from "./chain-check.ts";
import type { LedgerProblem } from "./chain-check.ts";
import { GENESIS } from "./record.ts";
import type { DigestText, LedgerHead } from "./record.ts";
import type { PublicKey } from "./statement.ts";

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

export interface VerifyOptions {
  /** The known end of the chain. Without it, missing records at the end are not detected. */
  readonly head?: LedgerHead;
  /** Defaults to SHA-256. */
  readonly digest?: DigestText;
}

/**
 * Detects edits, removals, insertions and reorderings. A chain alone does not show that its end was removed or that all
 * of it was replaced; `verifyStore` and `verifyExport` check signatures for that.
 */
export async function verifyLedger(
  records: AsyncIterable<unknown> | Iterable<unknown>,
  { head, digest }: VerifyOptions = {},
): Promise<LedgerVerdict> {
  const check = createChainCheck(GENESIS, defined({ digest }));
  for await (const raw of records) {
    const problem = check.add(raw);
    if (problem) return problem;
  }
  const last = check.last();
  if (!head || (head.seq === last.seq && head.digest === last.digest)) return { ok: true, records: last.seq };
  return { ok: false, seq: last.seq + 1, problem: `the ledger should end at record ${head.seq} with ${head.digest}` };
}
