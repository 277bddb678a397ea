/**
 * Records to a file of JSON Lines that grows: after each batch a signed trailer, so that the file can be checked by
 * itself up to its last line. A batch that a crash tore is written again from its beginning.
 */

import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant, JsonObject } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { parseLedgerRecord, toLedgerLine } from "../record.ts";
import type { LedgerRecord } from "../record.ts";
import { createSignatureCheck } from "../signing/signer.ts";
import type { Signer } from "../signing/signer.ts";
import { parseStatementText, toStatementText } from "../signing/statement.ts";
import type { SignedStatement, Trailer } from "../signing/statement.ts";
import type { Sink } from "./open-exporter.ts";

export interface FileSinkOptions {
  readonly id: string;
  readonly path: string;
  readonly signer: Signer;
  readonly now: () => Instant;
  /** Where the records are that a trailer in the file speaks of. */
  readonly store: Pick<Store, "ledger">;
}

/** Where the file ends well: after a trailer that covers records up to `seq`. */
interface FileEnd {
  readonly bytes: number;
  readonly seq: number;
  /** The end of the file up to there. */
  readonly tail: string;
}

/** More than any batch, so that the trailer before a torn one is among them. */
const TAIL_BYTES = 16 * 1024 * 1024;
const EMPTY: FileEnd = { bytes: 0, seq: 0, tail: "" };

/** The file is opened anew for each batch, so that it may be moved away at any time. */
export function openFileSink(options: FileSinkOptions): Sink {
  return {
    id: options.id,
    send: (records) => append(options, records),
    close: async () => undefined,
  };
}

async function append(options: FileSinkOptions, records: readonly JsonObject[]): Promise<void> {
  const { path, signer, now } = options;
  await using file = await openFile(path);
  const place = await findEnd(file, options);
  if (!place) throw notOurs(path);
  const isFresh = ({ seq }: JsonObject): boolean => typeof seq === "number" && seq > place.seq;
  if (
    !holdsAll(
      place.tail,
      records.filter((record) => !isFresh(record)),
    )
  )
    throw notOurs(path);
  const fresh = records.filter(isFresh);
  if (fresh.length === 0) return;
  const lines = [...fresh.map(toLedgerLine), ...(await toTrailer(fresh, signer, now()))];
  await file.truncate(place.bytes);
  await file.write(`${lines.join("\n")}\n`, place.bytes);
  await file.datasync();
}

/** A trailer alone proves nothing: what is not written again must really be there. */
function holdsAll(tail: string, records: readonly JsonObject[]): boolean {
  if (records.length === 0) return true;
  const lines = new Set(tail.split("\n"));
  return records.every((record) => lines.has(toLedgerLine(record)));
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT")) throw thrown;
    return open(path, "wx+", 0o600);
  }
}

/** `undefined` for a file that has something in it, and no trailer of ours: it is not to be touched. */
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
  // The first batch of all may have been torn.
  return start === 0 && isTorn(tail) ? EMPTY : undefined;
}

/** Signed by us, about a record as it is in the ledger; one that a cut has dropped cannot be compared any more. */
async function isOurs(trailer: SignedStatement<Trailer>, { signer, store }: FileSinkOptions): Promise<boolean> {
  if (!(await createSignatureCheck(signer.key)(trailer))) return false;
  const [record] = await store.ledger.read({ from: trailer.seq, limit: 1 });
  if (!record) return false;
  return record.seq > trailer.seq || record.digest === trailer.digest;
}

/** A text that begins like the first line of a ledger, cut anywhere. */
function isTorn(tail: Buffer): boolean {
  const beginning = '{"action":"';
  return beginning.startsWith(tail.toString("latin1", 0, Math.min(tail.length, beginning.length)));
}

/** A damaged record has no place in a chain: then the file gets no trailer, and its check fails, as it should. */
async function toTrailer(records: readonly JsonObject[], signer: Signer, at: Instant): Promise<readonly string[]> {
  const parsed: (LedgerRecord | undefined)[] = [parseLedgerRecord(records[0]), parseLedgerRecord(records.at(-1))];
  const [first, last] = parsed;
  if (!first || !last) return [];
  const { previous } = first;
  const span = { first: first.seq, previous, seq: last.seq, digest: last.digest, count: records.length, at };
  return [toStatementText(await signer.sign({ kind: "trailer", ...span }))];
}

function notOurs(path: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path} holds something else than an export of this ledger`, {
    hint: "Name another file in `audit.export`, or move this one away",
  });
}
