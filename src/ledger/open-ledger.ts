/** The ledger: append-only, hash-chained, written before anything happens. */

import { cleanText, digestOf } from "../text/index.ts";
import { GloveboxError, canonicalJson, depthOf, mapTexts } from "../domain/index.ts";
import type { Instant, Json, JsonObject } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { SUSPECT } from "./chain-check.ts";
import { followChain, readHead } from "./follow-chain.ts";
import { createCommitGroup } from "./group-commit.ts";
import type { Durability } from "./group-commit.ts";
import { readRecords } from "./read-records.ts";
import { DETAIL_DEPTH, sealRecord } from "./record.ts";
import type { LedgerEntry, LedgerRecord, DigestText, LedgerDraft, LedgerHead } from "./record.ts";

const BATCH = 256;
/** How long the record of something that changes nothing may wait for others to share its commit. */
const SOON_MS = 5;
/** How often another process may be faster before we give up. */
const ATTEMPTS = 100;
const NAME_BYTES = 1_024;

/** What a ledger is made of. */
export interface LedgerOptions {
  readonly store: Pick<Store, "ledger">;
  readonly now: () => Instant;
  /** SHA-256 when left out. */
  readonly digest?: DigestText;
  /** Hears where the chain ends after every batch that is durable, and of no other. Must not throw or take long. */
  readonly onAppended?: (head: LedgerHead) => void;
  /** Up to where records were dropped on purpose, if it is certain. */
  readonly findCut?: () => Promise<LedgerHead>;
  /** Hears every batch that is written and how long that took. Must not throw, and must not take long. */
  readonly onCommitted?: (records: readonly LedgerRecord[], ms: number) => void;
  /** Takes secrets out of a text: what is written here cannot be taken back. */
  readonly hide?: (text: string) => string;
}

/** The only way to write things down. It does not own the store. */
export interface Ledger extends AsyncDisposable {
  /**
   * Resolves once the record is durable, or only committed if it is `unflushed` or `soon`; rejects with
   * STORE_UNAVAILABLE when it is not, and then the caller must not do what it wanted to have recorded. Records have the
   * order of the calls, and none is durable before those in front of it: whoever waits for the last need not wait for
   * the others.
   */
  write(entry: LedgerEntry, durability?: Durability): Promise<LedgerRecord>;
  /** Every record as a JSON object, in order, damaged ones too: for an export and for `verifyLedger`. */
  records(range?: { readonly from?: number }): AsyncIterable<JsonObject>;
  /** The last record that is stored now, by whichever process. */
  head(): Promise<LedgerHead>;
  /** Resolves when everything that was handed in is written, as durably as was asked for, or refused. */
  drain(): Promise<void>;
  /** Waits for the writes under way; later ones are refused. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Reads the end of the chain, so it rejects with STORE_UNAVAILABLE when the store cannot be read. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { store, now, hide = (text) => text } = options;
  const append = createAppend(options, await readHead(store));
  const group = createCommitGroup<LedgerDraft, LedgerRecord>({ size: BATCH, waitMs: SOON_MS, commit: append });
  let isClosed = false;

  const close = async (): Promise<void> => {
    isClosed = true;
    await group.drain();
  };
  const write = async (entry: LedgerEntry, durability: Durability = "flushed"): Promise<LedgerRecord> => {
    if (isClosed)
      throw new GloveboxError("STORE_UNAVAILABLE", "The ledger is closed", { hint: "Start Glovebox again" });
    return group.add({ ...copyEntry(entry, hide), at: now() }, durability);
  };

  return {
    write,
    records: ({ from = 1 } = {}) => readRecords(store, from),
    head: () => readHead(store),
    drain: () => group.drain(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The head moves only after a commit, so a failed one burns no number and breaks no chain. Where somebody else took the
 * next number, what we left must still be there: if not, that is the next record, and only then come the others.
 */
function createAppend(options: LedgerOptions, start: LedgerHead) {
  const { store, now, digest = digestOf, onAppended, onCommitted } = options;
  let head = start;
  let warnings: readonly LedgerDraft[] = [];
  const append = async (
    drafts: readonly LedgerDraft[],
    isFlushed: boolean,
  ): Promise<readonly LedgerRecord[] | "taken"> => {
    const sealed = chain(head, [...warnings, ...drafts], digest);
    const records = sealed.map(({ stored }) => stored);
    if ((await store.ledger.append(records, isFlushed)) === "taken") return "taken";
    const known = warnings.length;
    head = sealed.at(-1)?.record ?? head;
    warnings = [];
    // A power cut may take back what was not flushed: nobody may sign that it is there.
    if (isFlushed) onAppended?.({ seq: head.seq, digest: head.digest });
    return sealed.slice(known).map(({ record }) => record);
  };
  return async (drafts: readonly LedgerDraft[], isFlushed: boolean): Promise<readonly LedgerRecord[]> => {
    const startedAt = performance.now();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const written = await append(drafts, isFlushed);
      if (written !== "taken") {
        onCommitted?.(written, performance.now() - startedAt);
        return written;
      }
      const { end, suspicion } = await followChain(options, head);
      if (suspicion !== undefined) warnings = [...warnings, warn(suspicion, head, now())];
      head = end;
    }
    throw new GloveboxError("STORE_UNAVAILABLE", `Other processes took the next ledger number ${ATTEMPTS} times`, {
      hint: "Let fewer processes share one store",
    });
  };
}

function warn(subject: string, { seq, digest }: LedgerHead, at: Instant): LedgerDraft {
  const entry = { actor: "gateway", action: SUSPECT, subject, detail: { head: { seq, digest } } };
  return { ...copyEntry(entry, (text) => text), at };
}

function chain(head: LedgerHead, drafts: readonly LedgerDraft[], digest: DigestText) {
  let last = head;
  return drafts.map((draft) => {
    const record = sealRecord(last, draft, digest);
    last = record;
    return { record, stored: { ...record, detail: draft.detailText } };
  });
}

/** Copied at once: the caller may change its objects before the batch is written. */
function copyEntry(
  { actor, action, subject, detail }: LedgerEntry,
  hide: (text: string) => string,
): Omit<LedgerDraft, "at"> {
  if (depthOf(detail, DETAIL_DEPTH) > DETAIL_DEPTH)
    throw new TypeError("The detail of an audit entry nests too deeply");
  const detailText = canonicalJson(mapTexts(detail, hide));
  return {
    actor: oneLine(actor, hide),
    action: oneLine(action, hide),
    subject: oneLine(subject, hide),
    detail: parseCopy(detailText),
    detailText,
  };
}

/** A database stores neither lone surrogates nor, safely, controls; and a record must not write its own next line. */
function oneLine(text: string, hide: (text: string) => string): string {
  return cleanText(text, { maxBytes: NAME_BYTES, hide }).replaceAll(/[\n\t]+/g, " ");
}

function parseCopy(canonical: string): Json {
  return JSON.parse(canonical) as Json;
}
