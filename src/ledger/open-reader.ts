/** The ledger for those who only look: search, check, export. It writes nothing, so it leaves every trace as it is. */

import type { Instant, JsonObject } from "../domain/index.ts";
import type { ExportRow, Store } from "../store/index.ts";

import { readRecords } from "./read-records.ts";
import { toJsonRecord, toLedgerLine } from "./record.ts";
import type { LedgerVerdict } from "./verify-ledger.ts";
import type { PublicKey } from "./signing/public-key.ts";
import type { Signer } from "./signing/signer.ts";
import { toStatementText } from "./signing/statement.ts";
import { verifyStore, walkStore } from "./signing/verify-store.ts";

export interface ReaderOptions {
  readonly store: Pick<Store, "ledger" | "statements" | "exports">;
  /** Absent when there is no key yet: then nothing was ever signed, and an export has no trailer. */
  readonly signer?: Signer;
  readonly headFile?: string;
  readonly now: () => Instant;
}

/** It does not own the store. */
export interface LedgerReader {
  /** Who signs here. */
  readonly key: PublicKey | undefined;
  /** Left out, `key` is the key of this installation. */
  verify(key?: PublicKey): Promise<LedgerVerdict>;
  /** The lines of an export. It ends with a trailer only when the ledger is whole; the verdict comes last. */
  export(): AsyncGenerator<string, LedgerVerdict>;
  records(range?: { readonly from?: number }): AsyncIterable<JsonObject>;
  /** Newest first. */
  search(query: Parameters<Store["ledger"]["search"]>[0]): Promise<readonly JsonObject[]>;
  /** The number of the last record. */
  last(): Promise<number>;
  /** How far the continuous exports have come. */
  exports(): Promise<readonly ExportRow[]>;
}

export function openReader(options: ReaderOptions): LedgerReader {
  const { store, signer, headFile } = options;
  const sources = (key = signer?.key) => ({
    store,
    ...(headFile !== undefined && { headFile }),
    ...(key !== undefined && { key }),
  });
  return {
    key: signer?.key,
    verify: (key) => verifyStore(sources(key)),
    export: () => exportLines(options, sources()),
    records: ({ from = 1 } = {}) => readKept(store, from),
    search: async (query) => (await store.ledger.search(query)).map(toJsonRecord),
    last: async () => (await store.ledger.last())?.seq ?? 0,
    exports: () => store.exports.list(),
  };
}

/** Without what somebody put back below a cut. */
async function* readKept(store: ReaderOptions["store"], from: number): AsyncIterable<JsonObject> {
  const cut = await store.statements.lastCut();
  yield* readRecords(store, Math.max(from, (cut?.seq ?? 0) + 1));
}

async function* exportLines(
  { signer, now }: ReaderOptions,
  sources: Parameters<typeof walkStore>[0],
): AsyncGenerator<string, LedgerVerdict> {
  const walk = walkStore(sources);
  let step = await walk.next();
  for (; !step.done; step = await walk.next())
    for (const record of step.value) yield toLedgerLine(toJsonRecord(record));
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
