/** Whether the ledger still holds what this process left there, after somebody else has written to it. */

import { GloveboxError, parseDigest } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { createChainCheck } from "./chain-check.ts";
import type { LedgerProblem } from "./chain-check.ts";
import { readPages } from "./read-records.ts";
import { GENESIS } from "./record.ts";
import type { DigestText, LedgerHead } from "./record.ts";

export interface FollowChainOptions {
  readonly store: Pick<Store, "ledger">;
  readonly digest?: DigestText;
  /** The place behind which records may be missing on purpose; `GENESIS` when left out. */
  readonly findCut?: () => Promise<LedgerHead>;
}

/** Where the chain ends now, and what is wrong on the way there. */
export interface ChainEnd {
  readonly end: LedgerHead;
  readonly suspicion?: string;
}

/**
 * From `known`, a place that this process has seen, to the end. Whoever edits the file can chain anew what they
 * please, and going on from there would sign it.
 */
export async function followChain(options: FollowChainOptions, known: LedgerHead): Promise<ChainEnd> {
  const { store, digest, findCut = noCut } = options;
  const removal = await findRemoval(options, known);
  if (removal !== undefined) return { end: await readHead(store), suspicion: removal };
  const cut = await findCut();
  const start = known.seq < cut.seq ? cut : known;
  const check = createChainCheck(start, digest ? { digest } : {});
  for await (const page of readPages(store, start.seq + 1)) {
    const problem = page.reduce<LedgerProblem | undefined>(
      (found, record) => found ?? check.addStored(record),
      undefined,
    );
    if (!problem) continue;
    // What was dropped on purpose meanwhile is no finding.
    if ((await findCut()).seq > start.seq) return followChain(options, known);
    return { end: await readHead(store), suspicion: `record ${problem.seq}: ${problem.problem}` };
  }
  return { end: check.last() };
}

/** What keeps `place` from being one of the chain. The cut is read last: it may have been made meanwhile. */
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

/** The last record that is stored, which must be one that another can follow. */
export async function readHead(store: Pick<Store, "ledger">): Promise<LedgerHead> {
  const last = await store.ledger.last();
  if (!last) return GENESIS;
  const digest = parseDigest(last.digest);
  if (digest && Number.isSafeInteger(last.seq)) return { seq: last.seq, digest };
  throw new GloveboxError("STORE_UNAVAILABLE", `The last record of the ledger, ${last.seq}, is damaged`, {
    hint: "Restore a backup, or name another file in `store.url`",
  });
}
