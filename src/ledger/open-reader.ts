/** Read-only access to the ledger: search, verify, export. Writes nothing, so it preserves all evidence. */

import { canonicalJson, defined } from "../domain/index.ts";
import type { Instant, JsonObject } from "../domain/index.ts";
import type { ExportRow, Store } from "../store/index.ts";

import { readRecords } from "./follow-chain.ts";
import { toJsonRecord } from "./record.ts";
import type { LedgerVerdict } from "./chain-check.ts";
import type { Signer } from "./signer.ts";
import { toStatementText } from "./statement.ts";
import type { PublicKey } from "./statement.ts";
import { verifyStore, walkStore } from "./signing/verify-store.ts";

export interface ReaderOptions {
  readonly store: Pick<Store, "ledger" | "statements" | "exports">;
  /** Absent before the first key exists: then nothing was signed, and an export has no trailer. */
  readonly signer?: Signer;
  readonly headFile?: string;
  readonly now: () => Instant;
}

/** Does not own the store. */
export interface LedgerReader {
  /** The key of this installation. */
  readonly key: PublicKey | undefined;
  /** `key` defaults to the key of this installation. `onPage` is awaited after each page, with its last number. */
  verify(key?: PublicKey, onPage?: (last: number) => Promise<void>): Promise<LedgerVerdict>;
  /** Yields the lines of an export and returns the verdict. Ends with a trailer only if the ledger is intact. */
  export(): AsyncGenerator<string, LedgerVerdict>;
  records(range?: { readonly from?: number }): AsyncIterable<JsonObject>;
  /** Newest first. */
  search(query: Parameters<Store["ledger"]["search"]>[0]): Promise<readonly JsonObject[]>;
  /** Returns the number of the last record, or 0. */
  last(): Promise<number>;
  /** Returns the progress of the continuous exports. */
  exports(): Promise<readonly ExportRow[]>;
}

export function openReader(options: ReaderOptions): LedgerReader {
  const { store, signer, headFile } = options;
  const sources = (key = signer?.key) => defined({ store, headFile, key });
  return {
    key: signer?.key,
    verify: (key, onPage) => verifyStore(sources(key), onPage),
    export: () => exportLines(options, sources()),
    async *records({ from = 1 } = {}) {
      // Skips records that were put back below a cut.
      const cut = await store.statements.lastCut();
      yield* readRecords(store, Math.max(from, (cut?.seq ?? 0) + 1));
    },
    search: async (query) => (await store.ledger.search(query)).map(toJsonRecord),
    last: async () => (await store.ledger.last())?.seq ?? 0,
    exports: () => store.exports.list(),
  };
}

async function* exportLines(
  { signer, now }: ReaderOptions,
  sources: Parameters<typeof walkStore>[0],
): AsyncGenerator<string, LedgerVerdict> {
  const walk = walkStore(sources);
  let step = await walk.next();
  for (; !step.done; step = await walk.next())
    for (const record of step.value) yield canonicalJson(toJsonRecord(record));
  const { verdict, span } = step.value;
  if (!span || !signer) return verdict;
  const { start, end } = span;
  const trailer = await signer.sign({
    kind: "trailer",
    first: start.seq + 1,
    previous: start.digest,
    seq: end.seq,
    digest: end.digest,
    count: end.seq - start.seq,
    at: now(),
  });
  yield toStatementText(trailer);
  return verdict;
}
