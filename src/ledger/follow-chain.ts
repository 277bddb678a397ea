/** Verifies, after another process wrote to the ledger, that it still contains what this process wrote. */

import { GloveboxError, defined, parseDigest } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { createChainCheck } from "./chain-check.ts";
import type { LedgerProblem } from "./chain-check.ts";
import { readPages } from "./read-records.ts";
import { GENESIS } from "./record.ts";
import type { DigestText, LedgerHead } from "./record.ts";

export interface FollowChainOptions {
  readonly store: Pick<Store, "ledger">;
  readonly digest?: DigestText;
  /** Returns the last record that was dropped on purpose. Defaults to `GENESIS`. */
  readonly findCut?: () => Promise<LedgerHead>;
}

/** The current end of the chain, and what is wrong with it. */
export interface ChainEnd {
  readonly end: LedgerHead;
  readonly suspicion?: string;
}

/**
 * Checks the chain from `known`, a record that this process has seen, to the end. Without this check, a forger who
 * edits the file and recomputes the chain would get the result signed.
 */
export async function followChain(options: FollowChainOptions, known: LedgerHead): Promise<ChainEnd> {
  const { store, digest, findCut = noCut } = options;
  const removal = await findRemoval(options, known);
  if (removal !== undefined) return { end: await readHead(store), suspicion: removal };
  const cut = await findCut();
  const start = known.seq < cut.seq ? cut : known;
  const check = createChainCheck(start, defined({ digest }));
  for await (const page of readPages(store, start.seq + 1)) {
    const problem = page.reduce<LedgerProblem | undefined>(
      (found, record) => found ?? check.addStored(record),
      undefined,
    );
    if (!problem) continue;
    // Records may have been dropped on purpose in the meantime.
    if ((await findCut()).seq > start.seq) return followChain(options, known);
    return { end: await readHead(store), suspicion: `record ${problem.seq}: ${problem.problem}` };
  }
  return { end: check.last() };
}

/** Returns why `place` is not in the chain. Reads the cut last, because it may have been made in the meantime. */
export async function findRemoval(
  { store, findCut = noCut }: FollowChainOptions,
  place: LedgerHead,
): Promise<string | undefined> {
  if (place.seq === 0) return undefined;
  const [record] = await store.ledger.read({ from: place.seq, limit: 1 });
  if (record?.seq === place.seq && record.digest === place.digest) return undefined;
  if (place.seq <= (await findCut()).seq) return undefined;
  if (record?.seq !== place.seq) return `records were removed up to ${place.seq}`;
  return `record ${place.seq} is not the one that was written`;
}

const noCut = async (): Promise<LedgerHead> => GENESIS;

/** Returns the last stored record. Throws STORE_UNAVAILABLE if no record can be chained to it. */
export async function readHead(store: Pick<Store, "ledger">): Promise<LedgerHead> {
  const last = await store.ledger.last();
  if (!last) return GENESIS;
  const digest = parseDigest(last.digest);
  if (digest && Number.isSafeInteger(last.seq)) return { seq: last.seq, digest };
  throw new GloveboxError("STORE_UNAVAILABLE", `The last ledger record, ${last.seq}, is damaged`, {
    hint: "Restore a backup, or set another file in `store.url`",
  });
}
