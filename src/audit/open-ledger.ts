/** The ledger: append-only, hash-chained, written before anything happens. */

import { GloveboxError, canonicalJson, depthOf, parseDigest } from "../domain/index.ts";
import type { Instant, Json, JsonObject } from "../domain/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import { cleanText } from "./clean-text.ts";
import { digestOf } from "./digest-of.ts";
import { createGroup } from "./group-commit.ts";
import type { Pace } from "./group-commit.ts";
import { DETAIL_DEPTH, GENESIS, sealRecord, toJsonRecord } from "./record.ts";
import type { AuditEntry, AuditRecord, DigestText, Draft, LedgerHead } from "./record.ts";

const BATCH = 256;
/** How long the record of something that changes nothing may wait for others to share its commit. */
const SOON_MS = 5;
/** How often another process may be faster before we give up. */
const ATTEMPTS = 100;
const NAME_BYTES = 1_024;
const PAGE = 500;

/** What a ledger is made of. */
export interface LedgerOptions {
  readonly store: Pick<Store, "ledger">;
  readonly now: () => Instant;
  /** SHA-256 when left out. */
  readonly digest?: DigestText;
  /** Hears where the chain ends after every batch that is durable. Must not throw, and must not take long. */
  readonly onAppended?: (head: LedgerHead) => void;
}

/** The only way to write things down. It does not own the store. */
export interface Ledger extends AsyncDisposable {
  /**
   * Resolves once the record is durable; rejects with STORE_UNAVAILABLE when it is not, and then the caller
   * must not do what it wanted to have recorded. Records have the order of the calls, and none is durable before
   * those in front of it: whoever waits for the last need not wait for the others. `soon` shares a commit.
   */
  write(entry: AuditEntry, pace?: Pace): Promise<AuditRecord>;
  /** Every record as a JSON object, in order, damaged ones too: for an export and for `verifyLedger`. */
  records(range?: { readonly from?: number }): AsyncIterable<JsonObject>;
  /** The last record that is stored now, by whichever process. */
  head(): Promise<LedgerHead>;
  /** Resolves when everything that was handed in is durable or refused. */
  settled(): Promise<void>;
  /** Waits for the writes under way; later ones are refused. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Reads the end of the chain, so it rejects with STORE_UNAVAILABLE when the store cannot be read. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { store, now } = options;
  const append = createAppend(options, await readHead(store));
  const group = createGroup<Draft, AuditRecord>({ size: BATCH, waitMs: SOON_MS, commit: append });
  let isClosed = false;

  const close = async (): Promise<void> => {
    isClosed = true;
    await group.settled();
  };
  const write = async (entry: AuditEntry, pace: Pace = "now"): Promise<AuditRecord> => {
    if (isClosed)
      throw new GloveboxError("STORE_UNAVAILABLE", "The ledger is closed", { hint: "Start Glovebox again" });
    return group.add({ ...copyEntry(entry), at: now() }, pace);
  };

  return {
    write,
    records: ({ from = 1 } = {}) => readRecords(store, from),
    head: () => readHead(store),
    settled: () => group.settled(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The head moves only after a commit, so a failed one burns no number and breaks no chain. */
function createAppend({ store, digest = digestOf, onAppended }: LedgerOptions, start: LedgerHead) {
  let head = start;
  return async (drafts: readonly Draft[]): Promise<readonly AuditRecord[]> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const sealed = chain(head, drafts, digest);
      if ((await store.ledger.append(sealed.map(({ stored }) => stored))) === "appended") {
        head = sealed.at(-1)?.record ?? head;
        onAppended?.({ seq: head.seq, digest: head.digest });
        return sealed.map(({ record }) => record);
      }
      head = await readHead(store);
    }
    throw new GloveboxError("STORE_UNAVAILABLE", `Other processes took the next ledger number ${ATTEMPTS} times`, {
      hint: "Let fewer processes share one store",
    });
  };
}

function chain(head: LedgerHead, drafts: readonly Draft[], digest: DigestText) {
  let last = head;
  return drafts.map((draft) => {
    const record = sealRecord(last, draft, digest);
    last = record;
    return { record, stored: { ...record, detail: draft.detailText } };
  });
}

/** Copied at once: the caller may change its objects before the batch is written. */
function copyEntry({ actor, action, subject, detail }: AuditEntry): Omit<Draft, "at"> {
  if (depthOf(detail, DETAIL_DEPTH) > DETAIL_DEPTH)
    throw new TypeError("The detail of an audit entry nests too deeply");
  const detailText = canonicalJson(detail);
  return {
    actor: oneLine(actor),
    action: oneLine(action),
    subject: oneLine(subject),
    detail: parseCopy(detailText),
    detailText,
  };
}

/** A database stores neither lone surrogates nor, safely, controls; and a record must not write its own next line. */
function oneLine(text: string): string {
  return cleanText(text, { maxBytes: NAME_BYTES }).replaceAll(/[\n\t]+/g, " ");
}

function parseCopy(canonical: string): Json {
  return JSON.parse(canonical) as Json;
}

async function readHead(store: LedgerOptions["store"]): Promise<LedgerHead> {
  const last = await store.ledger.last();
  if (!last) return GENESIS;
  const digest = parseDigest(last.digest);
  if (digest) return { seq: last.seq, digest };
  throw new GloveboxError("STORE_UNAVAILABLE", `The last record of the ledger, ${last.seq}, is damaged`, {
    hint: "Restore a backup, or name another file in `store.url`",
  });
}

/** Every record from `from` on as a JSON object, damaged ones too. */
export async function* readRecords(store: LedgerOptions["store"], from: number): AsyncIterable<JsonObject> {
  for await (const page of readPages(store, from)) yield* page.map(toJsonRecord);
}

/** Likewise as it is stored, many at a time. */
export async function* readPages(store: LedgerOptions["store"], from: number): AsyncIterable<readonly StoredRecord[]> {
  for (let next = from; ;) {
    const page = await store.ledger.read({ from: next, limit: PAGE });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    next = last.seq + 1;
  }
}
