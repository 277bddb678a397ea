/** Reads a ledger of any length, and verifies that it still contains what this process wrote. */

import { GloveboxError, parseDigest } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import { createChainCheck } from "./chain-check.ts";
import { GENESIS, toJsonRecord } from "./record.ts";
import type { LedgerHead } from "./record.ts";

const PAGE = 500;

export interface FollowChainOptions {
  readonly store: Pick<Store, "ledger">;
  /** Returns the last record that was dropped on purpose. Defaults to `GENESIS`. */
  readonly findCut?: () => Promise<LedgerHead>;
}

/**
 * Checks the chain from `known`, a record that this process has seen, to the end, and returns what is wrong with it. Without this check, a forger who
 * edits the file and recomputes the chain would get the result signed.
 */
export async function followChain(
  options: FollowChainOptions,
  known: LedgerHead,
): Promise<{ readonly end: LedgerHead; readonly suspicion?: string }> {
  const { store, findCut = noCut } = options;
  const removal = await findRemoval(options, known);
  if (removal !== undefined) return { end: await readHead(store), suspicion: removal };
  const cut = await findCut();
  const start = known.seq < cut.seq ? cut : known;
  const check = createChainCheck(start);
  for await (const page of readPages(store, start.seq + 1)) {
    for (const record of page) {
      const problem = check.addStored(record);
      if (!problem) continue;
      // Records may have been dropped on purpose in the meantime.
      if ((await findCut()).seq > start.seq) return followChain(options, known);
      return { end: await readHead(store), suspicion: `record ${problem.seq}: ${problem.problem}` };
    }
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

/** Yields every record from `from` on as a JSON object, including damaged ones. */
export async function* readRecords(store: Pick<Store, "ledger">, from: number): AsyncIterable<JsonObject> {
  for await (const page of readPages(store, from)) yield* page.map(toJsonRecord);
}

/** Yields pages of stored records from `from` on. */
export async function* readPages(store: Pick<Store, "ledger">, from: number): AsyncIterable<readonly StoredRecord[]> {
  for (let next = from; ;) {
    const page = await store.ledger.read({ from: next, limit: PAGE });
    yield page;
    const last = page.at(-1);
    // Above the safe integers `seq + 1` equals `seq`, and the loop would not end.
    if (!last || page.length < PAGE || !Number.isSafeInteger(last.seq)) return;
    next = last.seq + 1;
  }
}
