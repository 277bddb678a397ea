/**
 * Appends records to a JSON Lines file. Each batch ends with a signed trailer, so the file can be verified on its own.
 * A batch that a crash left incomplete is written again from its beginning.
 */

import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type { Instant, JsonObject } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { parseLedgerRecord } from "../record.ts";
import { createSignatureCheck } from "../signer.ts";
import type { Signer } from "../signer.ts";
import { parseStatementText, toStatementText } from "../statement.ts";
import type { SignedStatement, Trailer } from "../statement.ts";
import type { Sink } from "./open-exporter.ts";

export interface FileSinkOptions {
  readonly id: string;
  readonly path: string;
  readonly signer: Signer;
  readonly now: () => Instant;
  /** Contains the records that the trailers in the file refer to. */
  readonly store: Pick<Store, "ledger">;
}

/** The valid end of the file: after a trailer that covers records up to `seq`. */
interface FileEnd {
  readonly bytes: number;
  readonly seq: number;
  /** The last part of the file before that trailer. */
  readonly tail: string;
}

/** Larger than any batch, so that it contains the trailer before an incomplete batch. */
const TAIL_BYTES = 16 * 1024 * 1024;
const EMPTY: FileEnd = { bytes: 0, seq: 0, tail: "" };

/** Opens the file for each batch, so that it can be moved away at any time. */
export function openFileSink(options: FileSinkOptions): Sink {
  return { id: options.id, send: (records) => append(options, records) };
}

async function append(options: FileSinkOptions, records: readonly JsonObject[]): Promise<void> {
  const { path, signer, now } = options;
  await using file = await openFile(path);
  const place = await findEnd(file, options);
  if (!place) throw notOurs(path);
  const isFresh = ({ seq }: JsonObject): boolean => typeof seq === "number" && seq > place.seq;
  const { fresh = [], written = [] } = Object.groupBy(records, (record) => (isFresh(record) ? "fresh" : "written"));
  if (!holdsAll(place.tail, written)) throw notOurs(path);
  if (fresh.length === 0) return;
  const lines = [...fresh.map(canonicalJson), ...(await toTrailer(fresh, signer, now()))];
  await file.truncate(place.bytes);
  await file.write(`${lines.join("\n")}\n`, place.bytes);
  await file.datasync();
}

/** A trailer alone proves nothing: records that are not written again must be in the file. */
function holdsAll(tail: string, records: readonly JsonObject[]): boolean {
  if (records.length === 0) return true;
  const lines = new Set(tail.split("\n"));
  return records.every((record) => lines.has(canonicalJson(record)));
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT")) throw thrown;
    return open(path, "wx+", 0o600);
  }
}

/** Returns `undefined` for a file with other content, which must not be changed. */
async function findEnd(file: FileHandle, options: FileSinkOptions): Promise<FileEnd | undefined> {
  const { size } = await file.stat();
  if (size === 0) return EMPTY;
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = Buffer.alloc(size - start);
  await file.read(tail, 0, tail.length, start);
  for (let end = tail.lastIndexOf(10); end >= 0; end = end === 0 ? -1 : tail.lastIndexOf(10, end - 1)) {
    const begin = end === 0 ? 0 : tail.lastIndexOf(10, end - 1) + 1;
    const statement = parseStatementText(tail.toString("utf8", begin, end));
    if (statement?.kind !== "trailer") continue;
    if (!(await isOurs(statement, options))) return undefined;
    return { bytes: start + end + 1, seq: statement.seq, tail: tail.toString("utf8", 0, begin) };
  }
  // The first batch may be incomplete.
  return start === 0 && isIncomplete(tail) ? EMPTY : undefined;
}

/** Returns true if this installation signed the trailer and it matches the ledger, unless a cut dropped the record. */
async function isOurs(trailer: SignedStatement<Trailer>, { signer, store }: FileSinkOptions): Promise<boolean> {
  if (!(await createSignatureCheck(signer.key)(trailer))) return false;
  const [record] = await store.ledger.read({ from: trailer.seq, limit: 1 });
  if (!record) return false;
  return record.seq > trailer.seq || record.digest === trailer.digest;
}

/** Returns true for the incomplete beginning of an export. */
function isIncomplete(tail: Buffer): boolean {
  const beginning = '{"action":"';
  return beginning.startsWith(tail.toString("latin1", 0, Math.min(tail.length, beginning.length)));
}

/** A batch with a damaged record gets no trailer, so that verifying the file fails. */
async function toTrailer(records: readonly JsonObject[], signer: Signer, at: Instant): Promise<readonly string[]> {
  const [first, last] = [parseLedgerRecord(records[0]), parseLedgerRecord(records.at(-1))];
  if (!first || !last) return [];
  const { previous } = first;
  const span = { first: first.seq, previous, seq: last.seq, digest: last.digest, count: records.length, at };
  return [toStatementText(await signer.sign({ kind: "trailer", ...span }))];
}

function notOurs(path: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path} is not an export of this ledger`, {
    hint: "Set another file in `audit.export`, or move this one away",
  });
}
