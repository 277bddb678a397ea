/**
 * Stores results that are too large to return, and files that calls returned. Each belongs to one principal and expires;
 * another principal only learns that it does not exist.
 */

import { GloveboxError, parseResultId } from "../../domain/index.ts";
import type { Instant, Json, PrincipalId, ResultId, ResultQuery } from "../../domain/index.ts";
import type { ResultSummary, Store, StoredResult } from "../../store/index.ts";
import { readJson, writeJson } from "../../text/index.ts";
import { createRecent, runInSlices } from "../../timing/index.ts";
import type { RunSlice, SlicedWork } from "../../timing/index.ts";
import { outlineShape } from "../../typegen/index.ts";

import type { KeptFile, ResultOwner, ResultPart, Results } from "../kept-results.ts";
import { pageOf, readInSlices } from "./read-part.ts";

interface ResultsOptions {
  readonly store: Store["results"];
  readonly now: () => Instant;
  readonly createId: () => ResultId;
  readonly keepMs: number;
  /** The total size for all principals; the oldest are removed first. */
  readonly totalBytes: number;
}

const JSON_TYPE = "application/json";
/** The parsed values that are kept, by the size of their JSON. */
const PARSED_BYTES = 16 * 1024 * 1024;
const MAX_SHAPE_CHARS = 2_000;
/** Divisible by three, so that the base64 of pages can be joined. */
const FILE_PAGE_BYTES = 768 * 1024;

export function createResults(options: ResultsOptions): Results {
  const { store, now, createId } = options;

  const put = async (owner: ResultOwner, file: KeptFile, shape: string): Promise<ResultId> => {
    const id = createId();
    const createdAt = now();
    const expiresAt = createdAt + options.keepMs;
    const row = { ...owner, ...file, id, bytes: file.body.byteLength, shape, createdAt, expiresAt };
    await store.put(row, options.totalBytes);
    return id;
  };

  const get = async (principal: PrincipalId, rawHandle: unknown): Promise<ResultSummary> => {
    const id = parseResultId(rawHandle);
    const summary = id && (await store.findSummary(id, { principal, now: now() }));
    if (!summary) throw unknownHandle(rawHandle);
    return summary;
  };

  const getBody = async ({ id, principal }: ResultSummary): Promise<StoredResult> => {
    const whole = await store.find(id, { principal, now: now() });
    if (!whole) throw unknownHandle(id);
    return whole;
  };

  const readValue = shareParsed(async (summary, spend) => {
    const { body } = await getBody(summary);
    // `keepValue` of this gateway wrote it.
    return runInSlices(parseBody(body), spend);
  });

  return {
    async keepValue(owner, value) {
      const shape = outlineShape(value, MAX_SHAPE_CHARS);
      const body = await runInSlices(writeBody(value));
      return { handle: await put(owner, { mimeType: JSON_TYPE, body }, shape), bytes: body.byteLength, shape };
    },
    keepFile: (owner, file) => put(owner, file, ""),
    async read(principal, rawHandle, query, spend = (slice) => slice()) {
      const summary = await get(principal, rawHandle);
      if (isFile(summary)) return { ...readBytes(await getBody(summary), query), summary };
      const value = await readValue(summary, spend);
      return { ...(await runInSlices(readInSlices(value, query), spend)), summary };
    },
    summarize: get,
    async findFile(principal, handle) {
      const found = await store.find(handle, { principal, now: now() });
      return found && isFile(found) ? found : undefined;
    },
  };
}

type ReadValue = (summary: ResultSummary, spend: RunSlice) => Promise<Json>;

/** Pages of a value are usually read one after the other or at the same time, and parsing it is expensive. */
function shareParsed(read: ReadValue): ReadValue {
  const values = createRecent<ResultId, { readonly value: Json; readonly bytes: number }>(
    PARSED_BYTES,
    ({ bytes }) => bytes,
  );
  const reading = new Map<ResultId, Promise<Json>>();
  const readOnce: ReadValue = async (summary, spend) => {
    const { id, bytes } = summary;
    const known = values.get(id);
    if (known) return known.value;
    const shared = reading.get(id);
    // One that failed may have spent its own budget.
    if (shared) return shared.catch(() => readOnce(summary, spend));
    const own = read(summary, spend).finally(() => reading.delete(id));
    reading.set(id, own);
    values.set(id, { value: await own, bytes });
    return own;
  };
  return readOnce;
}

/** Sealing and storing it take another turn. */
function* writeBody(value: Json): SlicedWork<Buffer> {
  const body = Buffer.from(yield* writeJson(value));
  yield;
  return body;
}

function* parseBody(body: Uint8Array): SlicedWork<Json> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  yield;
  return (yield* readJson(text)) ?? null;
}

/** Not by MIME type: a server may call any bytes JSON. Every kept value has a shape. */
function isFile({ shape }: ResultSummary): boolean {
  return shape === "";
}

function readBytes({ mimeType, bytes, body }: StoredResult, query: ResultQuery): ResultPart {
  if (query.path !== undefined || query.grep !== undefined) {
    const message = `This is a file (${mimeType}); path and grep read JSON and strings only`;
    throw new GloveboxError("REQUEST_INVALID", message, { hint: "Read its bytes with offset and limit, as base64" });
  }
  const { start, end, next } = pageOf(bytes, { limit: FILE_PAGE_BYTES, ...query });
  const base64 = Buffer.from(body.subarray(start, end)).toString("base64");
  return { value: { mimeType, bytes, base64, ...next }, total: bytes, ...next };
}

function unknownHandle(rawHandle: unknown): GloveboxError {
  const name = parseResultId(rawHandle) ?? "with this handle";
  return new GloveboxError("REQUEST_NOT_FOUND", `The result ${name} does not exist`, {
    hint: "It may have expired or been removed for newer results; run the program again",
  });
}
