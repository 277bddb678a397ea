/** Checks the ledger in a store against everything that was ever signed about it. Changes nothing. */

import type { Store, StoredRecord } from "../../store/index.ts";

import { createChainCheck } from "../chain-check.ts";
import type { ChainCheck } from "../chain-check.ts";
import { readPages } from "../read-records.ts";
import type { LedgerHead } from "../record.ts";
import type { LedgerVerdict } from "../verify-ledger.ts";
import { checkStatements, readStatements } from "./check-statements.ts";
import type { SignedState } from "./check-statements.ts";
import { findStray } from "./find-strays.ts";
import { readHeadFile } from "./head-file.ts";
import type { PublicKey } from "./public-key.ts";

/** Where the ledger is, and who must have signed it. */
export interface StoreSources {
  readonly store: Pick<Store, "ledger" | "statements">;
  /** Left out for a store in memory. */
  readonly headFile?: string;
  /** Left out, the statements must only agree with one another. */
  readonly key?: PublicKey;
}

/** How a walk through the whole ledger ended. */
export interface StoreWalk {
  readonly verdict: LedgerVerdict;
  /** Between which places the records are whole; absent when they are not. */
  readonly span?: { readonly start: LedgerHead; readonly end: LedgerHead };
}

/** Finds edits, removals, insertions, reorderings and a cut end, of records, statements and the head. */
export async function verifyStore(sources: StoreSources): Promise<LedgerVerdict> {
  const before = await sources.store.statements.lastCut();
  const walk = walkStore(sources);
  let step = await walk.next();
  while (!step.done) step = await walk.next();
  const { verdict } = step.value;
  if (verdict.ok) return verdict;
  // A gateway that drops old records meanwhile makes the walk stumble, though nothing is wrong.
  const after = await sources.store.statements.lastCut();
  return before?.number === after?.number ? verdict : verifyStore(sources);
}

/** Hands out every record on its way, damaged ones too, many at a time. */
export async function* walkStore(sources: StoreSources): AsyncGenerator<readonly StoredRecord[], StoreWalk> {
  const { store, headFile, key } = sources;
  // In this order: whatever was signed is there when the records are read, also while somebody writes.
  const head = headFile === undefined ? undefined : await readHeadFile(headFile);
  const rows = await readStatements(store.statements);
  const promised = await checkStatements({ head, rows, ...(key !== undefined && { key }) });
  if (!promised.ok) {
    yield* readPages(store, 1);
    return { verdict: promised };
  }
  const check = createChainCheck(promised.start, { signed: promised.signed });
  let problem = await findStray(store, promised);
  for await (const page of readPages(store, promised.start.seq + 1)) {
    for (const record of page) problem ??= check.addStored(record);
    yield page;
  }
  if (problem) return { verdict: problem };
  const verdict = judge(promised, check);
  const isChain = verdict.ok || verdict === check.suspicion();
  return { verdict, ...(isChain && { span: { start: promised.start, end: check.last() } }) };
}

function judge({ start, signed, key }: SignedState, check: ChainCheck): LedgerVerdict {
  const end = check.last();
  let covered = start.seq;
  for (const seq of signed.keys()) covered = Math.max(covered, seq);
  if (covered > end.seq) {
    const problem = `records are missing: ${covered} was signed, and the ledger ends at ${end.seq}`;
    return { ok: false, seq: end.seq + 1, problem };
  }
  const suspicion = check.suspicion();
  if (suspicion) return suspicion;
  return {
    ok: true,
    records: end.seq - start.seq,
    ...(start.seq > 0 && { first: start.seq + 1 }),
    ...(key !== undefined && { signed: covered, key }),
  };
}
