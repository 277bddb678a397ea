/** Reads a ledger of any length from the store, page by page. */

import type { JsonObject } from "../domain/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import { toJsonRecord } from "./record.ts";

const PAGE = 500;

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
