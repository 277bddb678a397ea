/** Reads a ledger of any length from its store, some records at a time. */

import type { JsonObject } from "../domain/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import { toJsonRecord } from "./record.ts";

const PAGE = 500;

/** Every record from `from` on as a JSON object, damaged ones too. */
export async function* readRecords(store: Pick<Store, "ledger">, from: number): AsyncIterable<JsonObject> {
  for await (const page of readPages(store, from)) yield* page.map(toJsonRecord);
}

/** Likewise as it is stored, many at a time. */
export async function* readPages(store: Pick<Store, "ledger">, from: number): AsyncIterable<readonly StoredRecord[]> {
  for (let next = from; ;) {
    const page = await store.ledger.read({ from: next, limit: PAGE });
    yield page;
    const last = page.at(-1);
    // Beyond the safe integers the next number is the same one, and this would not end.
    if (!last || page.length < PAGE || !Number.isSafeInteger(last.seq)) return;
    next = last.seq + 1;
  }
}
