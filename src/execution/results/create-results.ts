/**
 * Results that are kept instead of given out: large values, and files that calls brought along. Each belongs to one
 * principal and expires; whoever asks for another one's learns only that there is none.
 */

import { GloveboxError, parseResultId } from "../../domain/index.ts";
import type {
  ExecutionId,
  ExecutionResult,
  Instant,
  Json,
  LabelSource,
  PrincipalId,
  ResultId,
  ResultQuery,
} from "../../domain/index.ts";
import type { ResultSummary, Store, StoredResult } from "../../store/index.ts";
import { outlineShape } from "../../typegen/index.ts";

import { pageOf, readPart } from "./read-part.ts";
import type { ResultPart } from "./read-part.ts";

/** How long results are kept and how much of them. */
export interface ResultsOptions {
  readonly store: Store["results"];
  readonly now: () => Instant;
  readonly createId: () => ResultId;
  readonly keepMs: number;
  /** All results of all principals together; the oldest go first. */
  readonly totalBytes: number;
}

/** Whose result it is, and where it came from. */
export interface ResultOwner {
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  /** What had been read by whoever made it. */
  readonly labels: readonly LabelSource[];
}

/** Bytes of a kind that is not JSON. */
export interface KeptFile {
  readonly mimeType: string;
  readonly body: Uint8Array;
}

/** What was read, and of what. */
export interface ReadResult extends ResultPart {
  readonly summary: ResultSummary;
}

export interface Results {
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>;
  keepFile(owner: ResultOwner, file: KeptFile): Promise<ResultId>;
  /** Throws `REQUEST_NOT_FOUND` for a handle that is none, expired, or somebody else's; `REQUEST_INVALID` as `readPart`. */
  read(principal: PrincipalId, rawHandle: unknown, query: ResultQuery): Promise<ReadResult>;
  /** What it is, without reading it. Throws as `read` does. */
  summarize(principal: PrincipalId, rawHandle: unknown): Promise<ResultSummary>;
  /** The file behind a handle; `undefined` for a kept value and for what `read` would not find. */
  findFile(principal: PrincipalId, handle: ResultId): Promise<(KeptFile & Pick<ResultSummary, "labels">) | undefined>;
}

const JSON_TYPE = "application/json";
const MAX_SHAPE_CHARS = 2_000;
/** Divisible by three, so that the base64 of pages can be joined. */
const FILE_PAGE_BYTES = 768 * 1024;

export function createResults(options: ResultsOptions): Results {
  const { store, now, createId } = options;
  /** Pages of the same value come one after the other, and parsing it is the dear part. */
  let latest: { readonly id: ResultId; readonly value: Json } | undefined;

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

  const readValue = async (summary: ResultSummary): Promise<Json> => {
    if (latest?.id === summary.id) return latest.value;
    const { body } = await getBody(summary);
    latest = { id: summary.id, value: parseKept(body) };
    return latest.value;
  };

  return {
    async keepValue(owner, value) {
      const shape = outlineShape(value, MAX_SHAPE_CHARS);
      const body = Buffer.from(JSON.stringify(value));
      return { handle: await put(owner, { mimeType: JSON_TYPE, body }, shape), bytes: body.byteLength, shape };
    },
    keepFile: (owner, file) => put(owner, file, ""),
    async read(principal, rawHandle, query) {
      const summary = await get(principal, rawHandle);
      if (isFile(summary)) return { ...readBytes(await getBody(summary), query), summary };
      return { ...readPart(await readValue(summary), query), summary };
    },
    summarize: get,
    async findFile(principal, handle) {
      const found = await store.find(handle, { principal, now: now() });
      return found && isFile(found) ? found : undefined;
    },
  };
}

/** Not by its type: a server may call any bytes JSON. Every kept value has a shape. */
function isFile({ shape }: ResultSummary): boolean {
  return shape === "";
}

/** It was written by `keepValue`. */
function parseKept(body: Uint8Array): Json {
  return JSON.parse(Buffer.from(body).toString("utf8")) as Json;
}

function readBytes({ mimeType, bytes, body }: StoredResult, query: ResultQuery): ResultPart {
  if (query.path !== undefined || query.grep !== undefined) {
    throw new GloveboxError("REQUEST_INVALID", `This is a file (${mimeType}); path and grep read JSON and text only`, {
      hint: "Read its bytes with offset and limit, as base64",
    });
  }
  const { start, end, next } = pageOf(bytes, { limit: FILE_PAGE_BYTES, ...query });
  const base64 = Buffer.from(body.subarray(start, end)).toString("base64");
  return { value: { mimeType, bytes, base64, ...next }, total: bytes, ...next };
}

function unknownHandle(rawHandle: unknown): GloveboxError {
  const name = parseResultId(rawHandle) ?? "of this name";
  return new GloveboxError("REQUEST_NOT_FOUND", `There is no result ${name}`, {
    hint: "It may have expired or made room for newer ones; run the program again",
  });
}
