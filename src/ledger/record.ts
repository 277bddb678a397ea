/** One ledger record: how it is chained to the one before it, and how it is parsed from an untrusted source. */

import { cleanText, digestOf } from "../text/index.ts";
import { canonicalJson, depthOf, isJsonObject, parseDigest, parseJson } from "../domain/index.ts";
import type { Digest, Instant, Json, JsonObject } from "../domain/index.ts";
import type { StoredRecord } from "../store/index.ts";

/** What a caller records. */
export interface LedgerEntry {
  /** Who did it: a principal, or the part of the gateway that acted. */
  readonly actor: string;
  /** `noun.verb`, such as `call.intended`. */
  readonly action: string;
  /** What it was done to, such as a tool or an execution. */
  readonly subject: string;
  /** Must be redacted: the ledger keeps it forever. */
  readonly detail: Json;
}

/** An entry with its position in the chain. */
export interface LedgerRecord extends LedgerEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly at: Instant;
  /** The digest of the record before; of `GENESIS` for the first. */
  readonly previous: Digest;
  /** The digest of the canonical JSON of all other fields. */
  readonly digest: Digest;
}

/** The number and the digest of the last record. */
export interface LedgerHead {
  readonly seq: number;
  readonly digest: Digest;
}

const PREVIEW_BYTES = 512;

/** Deeper details are refused, because hashing is recursive. */
export const DETAIL_DEPTH = 64;

/** The head of a ledger without records. */
export const GENESIS: LedgerHead = { seq: 0, digest: createGenesisDigest() };

const FIELDS = ["action", "actor", "at", "detail", "digest", "previous", "seq", "subject"];

/** An entry with its time, and with its detail as canonical JSON. */
export type LedgerDraft = Pick<StoredRecord, "actor" | "action" | "subject" | "detail" | "at">;

/** Chains an entry to `head`. The digest covers the canonical JSON of the record without its digest. */
export function sealRecord(head: LedgerHead, { actor, action, subject, detail, at }: LedgerDraft): SealedRecord {
  const body = { seq: head.seq + 1, at, actor, action, subject, detail, previous: head.digest };
  return { ...body, digest: digestOf(toHashedText(body)) };
}

/** A record as it is stored. */
export type SealedRecord = StoredRecord & Pick<LedgerRecord, "previous" | "digest">;

/** The detail is parsed when it is read, because few who write a record read it. */
export function toLedgerRecord({
  seq,
  at,
  actor,
  action,
  subject,
  detail,
  previous,
  digest,
}: SealedRecord): LedgerRecord {
  return {
    seq,
    at,
    actor,
    action,
    subject,
    get detail(): Json {
      return JSON.parse(detail);
    },
    previous,
    digest,
  };
}

/** Returns the text that is hashed. It contains the detail as stored, so any change of the detail changes the text. */
export function toHashedText(record: Omit<StoredRecord, "digest">): string {
  const { seq, at, actor, action, subject, detail, previous } = record;
  const quote = JSON.stringify;
  return (
    `{"action":${quote(action)},"actor":${quote(actor)},"at":${quote(at)},"detail":${detail},` +
    `"previous":${quote(previous)},"seq":${seq},"subject":${quote(subject)}}`
  );
}

/** Returns `undefined` for a missing, extra or mistyped field, so that nothing can hide beside what is hashed. */
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

/** Returns the stored record as a JSON object. A detail that is not canonical is omitted, which makes it invalid. */
export function toJsonRecord({ detail, ...rest }: StoredRecord): JsonObject {
  const parsed = parseCanonical(detail);
  return parsed === undefined ? rest : { ...rest, detail: parsed };
}

/** Returns a function that shortens arguments or a result for the ledger. Hides secrets before it cuts the string. */
export function createPreview(hide: (text: string) => string): (text: string) => string {
  return (text) => cleanText(text, { maxBytes: PREVIEW_BYTES, hide });
}

/** Parses the detail of a stored record. Returns an empty object if it is damaged. */
export function parseDetail(text: string): JsonObject {
  const parsed = parseJson(text);
  return isJsonObject(parsed) ? parsed : {};
}

/** Returns `undefined` for a line that is not canonical: readers could disagree about repeated keys. */
export function parseLedgerLine(line: string): JsonObject | undefined {
  const parsed = parseCanonical(line);
  return isJsonObject(parsed) ? parsed : undefined;
}

const FAILURE_ACTIONS: ReadonlySet<unknown> = new Set([
  "ledger.suspect",
  "secret.refused",
  "tool.held",
  "upstream.failed",
]);
const FAILURE_OUTCOMES: ReadonlySet<unknown> = new Set(["error", "failed", "deny", "denied", "suspended"]);

/** Returns true for a record that log systems should show as a warning. */
export function isFailure({ action, detail }: JsonObject): boolean {
  if (FAILURE_ACTIONS.has(action)) return true;
  return isJsonObject(detail) && ["outcome", "state", "decision"].some((name) => FAILURE_OUTCOMES.has(detail[name]));
}

function parseCanonical(text: string): Json | undefined {
  const value = parseJson(text);
  // An export line wraps the detail in one more object.
  if (value === undefined || depthOf(value, DETAIL_DEPTH + 1) > DETAIL_DEPTH + 1) return undefined;
  return canonicalJson(value) === text ? value : undefined;
}

function createGenesisDigest(): Digest {
  const digest = parseDigest(`sha256:${"0".repeat(64)}`);
  if (!digest) throw new TypeError("The digest of the genesis record is invalid");
  return digest;
}
