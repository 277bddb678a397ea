/** The ledger: append-only and hash-chained. An intent is recorded before it is carried out. */

import { cleanText } from "../text/index.ts";
import { GloveboxError, canonicalJson, depthOf, mapTexts } from "../domain/index.ts";
import type { Instant, JsonObject } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { SUSPECT } from "./chain-check.ts";
import { followChain, readHead, readRecords } from "./follow-chain.ts";
import { createCommitGroup } from "./group-commit.ts";
import type { Durability } from "./group-commit.ts";
import { DETAIL_DEPTH, sealRecord, toLedgerRecord } from "./record.ts";
import type { LedgerDraft, LedgerEntry, LedgerHead, LedgerRecord, SealedRecord } from "./record.ts";

const BATCH = 256;
/** The batching delay for `batched` records. */
const BATCH_DELAY_MS = 5;
/** How many times another process may take the next number before a write fails. */
const ATTEMPTS = 100;
const NAME_BYTES = 1_024;
const BREAKS = /[\n\t]/;

export interface LedgerOptions {
  readonly store: Pick<Store, "ledger">;
  readonly now: () => Instant;
  /** Called with a head once it is on disk: a power cut may undo later records. Must not throw or block. */
  readonly onAppended?: (head: LedgerHead) => void;
  /** Returns the last record that was dropped on purpose, if that is certain. */
  readonly findCut?: () => Promise<LedgerHead>;
  /** Called with every batch that was written and how long that took. Must not throw or block. */
  readonly onCommitted?: (records: readonly LedgerRecord[], ms: number) => void;
  /** Removes secrets from a string: a record cannot be changed afterwards. */
  readonly hide?: (text: string) => string;
}

/** The only way to write records. Does not own the store. */
export interface Ledger extends AsyncDisposable {
  /**
   * Resolves once the record is as durable as requested (default: `flushed`). Rejects with STORE_UNAVAILABLE otherwise;
   * then the caller must not carry out what it wanted to record. Records are written in call order, so waiting for the
   * last of several is enough.
   */
  write(entry: LedgerEntry, durability?: Durability): Promise<LedgerRecord>;
  /**
   * Writes all or none of the entries: only if `head` is still the last record in the store, whichever process writes.
   * Returns whether they were written. For decisions that were made from the records up to `head`.
   */
  writeAfter(head: LedgerHead, entries: readonly LedgerEntry[]): Promise<boolean>;
  /** Yields every record as a JSON object, in order, including damaged ones. For exports and `verifyLedger`. */
  records(range?: { readonly from?: number }): AsyncIterable<JsonObject>;
  /** Returns the last record in the store, whichever process wrote it. */
  head(): Promise<LedgerHead>;
  /** Calls the listener once new records are on disk. It must not throw or take long. Returns a function to stop. */
  onAppended(listener: () => void): () => void;
  /** Resolves when every pending write has succeeded or failed. */
  drain(): Promise<void>;
  /** Waits for pending writes and refuses later ones. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Rejects with STORE_UNAVAILABLE if the end of the chain cannot be read. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { store, now, hide = (text) => text } = options;
  const listeners = new Set<() => void>();
  const onAppended = (appended: LedgerHead): void => {
    options.onAppended?.(appended);
    for (const listener of listeners) listener();
  };
  const { append, appendAfter } = createAppend({ ...options, onAppended }, await readHead(store));
  const group = createCommitGroup<LedgerDraft, LedgerRecord>({ size: BATCH, waitMs: BATCH_DELAY_MS, commit: append });
  let isClosed = false;

  const close = async (): Promise<void> => {
    isClosed = true;
    await group.drain();
  };
  const write = (entry: LedgerEntry, durability: Durability = "flushed"): Promise<LedgerRecord> => {
    if (isClosed) return Promise.reject(closedError());
    try {
      return group.add(toDraft(entry, now(), hide), durability);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };

  return {
    write,
    async writeAfter(head, entries) {
      if (isClosed) throw closedError();
      await group.drain();
      const drafts = entries.map((entry) => toDraft(entry, now(), hide));
      return appendAfter(head, drafts);
    },
    records: ({ from = 1 } = {}) => readRecords(store, from),
    head: () => readHead(store),
    onAppended(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    drain: () => group.drain(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The head moves only after a commit, so a failed commit leaves no gap. If another process took the next number, the
 * records of this process must still be there; otherwise a warning is recorded first.
 */
function createAppend(options: LedgerOptions, start: LedgerHead) {
  const { store, now, onCommitted } = options;
  const announce = createAnnouncement(options);
  let head = start;
  let warnings: readonly LedgerDraft[] = [];
  const appendOnce = async (
    drafts: readonly LedgerDraft[],
    isFlushed: boolean,
  ): Promise<readonly LedgerRecord[] | "taken"> => {
    const records = chain(head, warnings.length === 0 ? drafts : [...warnings, ...drafts]);
    if ((await store.ledger.append(records, isFlushed)) === "taken") return "taken";
    const known = warnings.length;
    head = records.at(-1) ?? head;
    warnings = [];
    announce({ seq: head.seq, digest: head.digest }, isFlushed);
    return records.slice(known).map(toLedgerRecord);
  };
  const follow = async (): Promise<void> => {
    const { end, suspicion } = await followChain(options, head);
    if (suspicion !== undefined) warnings = [...warnings, warn(suspicion, head, now())];
    head = end;
  };
  const append = async (drafts: readonly LedgerDraft[], isFlushed: boolean): Promise<readonly LedgerRecord[]> => {
    const startedAt = performance.now();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const written = await appendOnce(drafts, isFlushed);
      if (written !== "taken") {
        onCommitted?.(written, performance.now() - startedAt);
        return written;
      }
      await follow();
    }
    const message = `Other processes took the next ledger number ${ATTEMPTS} times in a row`;
    throw new GloveboxError("STORE_UNAVAILABLE", message, { hint: "Run fewer processes on the same store" });
  };
  const appendAfter = async (last: LedgerHead, drafts: readonly LedgerDraft[]): Promise<boolean> => {
    if (last.digest !== head.digest) await follow();
    if (last.digest !== head.digest) return false;
    const written = await appendOnce(drafts, true);
    if (written === "taken") return false;
    onCommitted?.(written, 0);
    return true;
  };
  return { append, appendAfter };
}

/**
 * Calls `onAppended` with heads that are on disk, in order: at once for a flushed batch, otherwise after the next flush.
 * A power cut may undo what was not flushed, so it must not be signed.
 */
function createAnnouncement({ store, onAppended }: LedgerOptions): (head: LedgerHead, isFlushed: boolean) => void {
  let [appended, announced] = [0, 0];
  let next: { readonly flushed: Promise<void>; head: LedgerHead; order: number } | undefined;
  const announce = (head: LedgerHead, order: number): void => {
    if (order <= announced) return;
    announced = order;
    onAppended?.(head);
  };
  return (head, isFlushed) => {
    appended += 1;
    if (isFlushed) return announce(head, appended);
    const flushed = store.ledger.flushed();
    if (next?.flushed === flushed) return void Object.assign(next, { head, order: appended });
    const one = (next = { flushed, head, order: appended });
    flushed.then(
      () => announce(one.head, one.order),
      () => undefined,
    );
  };
}

function warn(subject: string, { seq, digest }: LedgerHead, at: Instant): LedgerDraft {
  const entry = { actor: "gateway", action: SUSPECT, subject, detail: { head: { seq, digest } } };
  return toDraft(entry, at, (text) => text);
}

function chain(head: LedgerHead, drafts: readonly LedgerDraft[]): readonly SealedRecord[] {
  let last = head;
  return drafts.map((draft) => {
    const record = sealRecord(last, draft);
    last = record;
    return record;
  });
}

function closedError(): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", "The ledger is closed", { hint: "Restart Glovebox" });
}

/** Copies the entry at once, because the caller may change its objects before the batch is written. */
function toDraft(
  { actor, action, subject, detail }: LedgerEntry,
  at: Instant,
  hide: (text: string) => string,
): LedgerDraft {
  if (depthOf(detail, DETAIL_DEPTH) > DETAIL_DEPTH)
    throw new TypeError(`The detail of a ledger entry is nested deeper than ${DETAIL_DEPTH} levels`);
  return {
    actor: oneLine(actor, hide),
    action: oneLine(action, hide),
    subject: oneLine(subject, hide),
    detail: canonicalJson(mapTexts(detail, hide)),
    at,
  };
}

/** Removes what a database cannot store safely (lone surrogates, control characters) and line breaks. */
function oneLine(text: string, hide: (text: string) => string): string {
  const clean = cleanText(text, { maxBytes: NAME_BYTES, hide });
  return BREAKS.test(clean) ? clean.replaceAll(/[\n\t]+/g, " ") : clean;
}
