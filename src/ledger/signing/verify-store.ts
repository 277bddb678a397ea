/** Verifies the ledger in a store against every signed statement about it. Read-only. */

import { defined, parseDigest } from "../../domain/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";

import { createChainCheck } from "../chain-check.ts";
import type { ChainCheck, LedgerProblem, LedgerVerdict } from "../chain-check.ts";
import { readPages } from "../follow-chain.ts";
import type { LedgerHead } from "../record.ts";
import { checkStatements, readStatements } from "./check-statements.ts";
import type { SignedState } from "./check-statements.ts";
import { readHeadFile } from "./head-file.ts";
import type { PublicKey } from "../statement.ts";

export interface StoreSources {
  readonly store: Pick<Store, "ledger" | "statements">;
  /** Absent for a store in memory. */
  readonly headFile?: string;
  /** The required signer. Without it, all statements must have the same signer. */
  readonly key?: PublicKey;
}

/** Detects edits, removals, insertions, reorderings and truncation of records, statements and the head. */
export async function verifyStore(
  sources: StoreSources,
  onPage?: (last: number) => Promise<void>,
): Promise<LedgerVerdict> {
  const before = await sources.store.statements.lastCut();
  const walk = walkStore(sources);
  let step = await walk.next();
  for (; !step.done; step = await walk.next()) await onPage?.(step.value.at(-1)?.seq ?? 0);
  const { verdict } = step.value;
  if (verdict.ok) return verdict;
  // A gateway that drops old records at the same time causes a false problem.
  const after = await sources.store.statements.lastCut();
  return before?.number === after?.number ? verdict : verifyStore(sources, onPage);
}

/** Yields every record, including damaged ones, in pages. Returns the range of the chain unless it is broken. */
export async function* walkStore(
  sources: StoreSources,
): AsyncGenerator<
  readonly StoredRecord[],
  { readonly verdict: LedgerVerdict; readonly span?: { readonly start: LedgerHead; readonly end: LedgerHead } }
> {
  const { store, headFile, key } = sources;
  // Reads statements before records, so that signed records exist even while another process writes.
  const head = headFile === undefined ? undefined : await readHeadFile(headFile);
  const rows = await readStatements(store.statements);
  const signedState = await checkStatements({ head, rows, ...defined({ key }) });
  if (!signedState.ok) {
    yield* readPages(store, 1);
    return { verdict: signedState };
  }
  const check = createChainCheck(signedState.start, signedState.signed);
  let problem = await findStray(store, signedState);
  for await (const page of readPages(store, signedState.start.seq + 1)) {
    for (const record of page) problem ??= check.addStored(record);
    yield page;
  }
  if (problem) return { verdict: problem };
  const verdict = judge(signedState, check);
  const isChain = verdict.ok || verdict === check.suspicion();
  const span = isChain ? { start: signedState.start, end: check.last() } : undefined;
  return { verdict, ...defined({ span }) };
}

function judge({ start, signed, key }: SignedState, check: ChainCheck): LedgerVerdict {
  const end = check.last();
  const covered = signed.keys().reduce((most, seq) => Math.max(most, seq), start.seq);
  if (covered > end.seq) {
    const problem = `records are missing: ${covered} was signed, and the ledger ends at ${end.seq}`;
    return { ok: false, seq: end.seq + 1, problem };
  }
  const suspicion = check.suspicion();
  if (suspicion) return suspicion;
  const first = start.seq > 0 ? start.seq + 1 : undefined;
  return { ok: true, records: end.seq - start.seq, ...defined({ first, signed: key && covered, key }) };
}

/**
 * Finds records where none may be: below the first number, or in a range that a cut dropped. While a cut is in progress,
 * the remaining records before it must still be a chain that ends at the cut.
 */
async function findStray(
  store: Pick<Store, "ledger">,
  { start, isDropping }: Pick<SignedState, "start" | "isDropping">,
): Promise<LedgerProblem | undefined> {
  const [lowest] = await store.ledger.read({ from: -Number.MAX_VALUE, limit: 1 });
  if (!lowest || lowest.seq > start.seq) return undefined;
  const { seq } = lowest;
  if (seq < 1) return { ok: false, seq, problem: "a record was added before the first one" };
  if (!isDropping) return { ok: false, seq, problem: "a record was added where records were dropped" };
  const previous = parseDigest(lowest.previous);
  const before = previous && { seq: seq - 1, digest: previous };
  const problem = before ? await walkToCut(store, { from: before, to: start }) : "this is not a ledger record";
  if (problem === undefined) return undefined;
  const [next] = await store.ledger.read({ from: -Number.MAX_VALUE, limit: 1 });
  // More records were dropped in the meantime: check again.
  return next?.seq === seq ? { ok: false, seq, problem } : findStray(store, { start, isDropping });
}

async function walkToCut(
  store: Pick<Store, "ledger">,
  { from, to }: Readonly<Record<"from" | "to", LedgerHead>>,
): Promise<string | undefined> {
  const check = createChainCheck(from, new Map([[to.seq, to.digest]]));
  for await (const page of readPages(store, from.seq + 1)) {
    for (const record of page) {
      if (check.last().seq >= to.seq) return undefined;
      const problem = check.addStored(record);
      if (problem) return problem.problem;
    }
  }
  return check.last().seq >= to.seq ? undefined : `records up to ${to.seq} are missing`;
}
