/** One record of the ledger, how it is bound to the one before, and how it is read back from a place we do not trust. */

import { canonicalJson, depthOf, isJsonObject, parseDigest } from "../domain/index.ts";
import type { Digest, Instant, Json, JsonObject } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";

/** What a room wants written down. */
export interface LedgerEntry {
  /** Who did it: a principal, or the part of the gateway that acts by itself. */
  readonly actor: string;
  /** `noun.verb`, such as `call.intended`. */
  readonly action: string;
  /** What it was done to. */
  readonly subject: string;
  /** Redacted already: the ledger keeps it for good. */
  readonly detail: Json;
}

/** What was written down, and where in the chain. */
export interface LedgerRecord extends LedgerEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly at: Instant;
  /** The digest of the record before; `GENESIS` for the first. */
  readonly previous: Digest;
  /** Over the canonical JSON of everything else in this record. */
  readonly digest: Digest;
}

/** Where the chain ends: the number and the digest of its last record. */
export interface LedgerHead {
  readonly seq: number;
  readonly digest: Digest;
}

/** How a text becomes a digest. */
export type DigestText = (text: string) => Digest;

/** Deeper details are refused: hashing walks them by recursion. */
export const DETAIL_DEPTH = 64;

/** The head of a ledger without records. */
export const GENESIS: LedgerHead = { seq: 0, digest: parseGenesis() };

const FIELDS = ["action", "actor", "at", "detail", "digest", "previous", "seq", "subject"];

/** An entry as it is written: with its time, and its detail as canonical text too. */
export type LedgerDraft = LedgerEntry & { readonly at: Instant; readonly detailText: string };

/** Puts an entry behind `head`. What is hashed is `canonicalJson` of the record without its digest, put together here. */
export function sealRecord(head: LedgerHead, draft: LedgerDraft, digest: DigestText): LedgerRecord {
  const { actor, action, subject, detail, detailText, at } = draft;
  const body = { seq: head.seq + 1, at, actor, action, subject, previous: head.digest };
  return { ...body, detail, digest: digest(toHashedText({ ...body, detail: detailText })) };
}

/** The text that a stored record's digest is of; a detail that was changed gives another text, whatever it is. */
export function toHashedText({
  seq,
  at,
  actor,
  action,
  subject,
  detail,
  previous,
}: Omit<StoredRecord, "digest">): string {
  const quote = JSON.stringify;
  return (
    `{"action":${quote(action)},"actor":${quote(actor)},"at":${quote(at)},"detail":${detail},` +
    `"previous":${quote(previous)},"seq":${seq},"subject":${quote(subject)}}`
  );
}

/** True when the digest is the one of the content. */
export function isIntact({ digest: found, ...body }: LedgerRecord, digest: DigestText): boolean {
  return digest(canonicalJson({ ...body })) === found;
}

/** A field more or less, or one of another type, makes it no record: nothing may hide beside what is hashed. */
export function parseLedgerRecord(raw: unknown): LedgerRecord | undefined {
  if (!isJsonObject(raw) || Object.keys(raw).toSorted().join() !== FIELDS.join()) return undefined;
  const { seq, at, actor, action, subject, detail } = raw;
  const [previous, digest] = [parseDigest(raw["previous"]), parseDigest(raw["digest"])];
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || typeof at !== "number") return undefined;
  if (!previous || !digest) return undefined;
  if (typeof actor !== "string" || typeof action !== "string" || typeof subject !== "string") return undefined;
  if (detail === undefined || depthOf(detail, DETAIL_DEPTH) > DETAIL_DEPTH) return undefined;
  return { seq, at, actor, action, subject, detail, previous, digest };
}

/** The stored record as one JSON object. A detail that is not what we would have written is left out, so it is no record. */
export function toJsonRecord({ detail, ...rest }: StoredRecord): JsonObject {
  const parsed = parseCanonical(detail);
  return parsed === undefined ? rest : { ...rest, detail: parsed };
}

/** One line of an export. */
export function toLedgerLine(record: JsonObject): string {
  return canonicalJson(record);
}

/** `undefined` for a line that `toLedgerLine` would not have written: repeated keys could show a reader another story. */
export function parseLedgerLine(line: string): JsonObject | undefined {
  const parsed = parseCanonical(line);
  return isJsonObject(parsed) ? parsed : undefined;
}

function parseCanonical(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    // One level more than a detail: an export line is an object around it.
    if (depthOf(value, DETAIL_DEPTH + 1) > DETAIL_DEPTH + 1) return undefined;
    return canonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseGenesis(): Digest {
  return `sha256:${"0".repeat(64)}` as Digest;
}
