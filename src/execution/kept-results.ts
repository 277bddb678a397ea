/** The interface to kept results: large values, and files that calls returned. Each belongs to one principal and expires. */

import type {
  ExecutionId,
  ExecutionResult,
  Json,
  LabelSource,
  PrincipalId,
  ResultId,
  ResultQuery,
} from "../domain/index.ts";
import type { ResultSummary } from "../store/index.ts";

/** Whose result it is, and where it came from. */
export interface ResultOwner {
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  /** What the session that made it had read. */
  readonly labels: readonly LabelSource[];
}

/** Bytes that are not JSON. */
export interface KeptFile {
  readonly mimeType: string;
  readonly body: Uint8Array;
}

/** A part of a result. */
export interface ResultPart {
  readonly value: Json;
  /** The total number of items, entries, characters, bytes or matches, when a page of them was read. */
  readonly total?: number;
  /** The offset of the next page, if there is one. */
  readonly next?: number;
}

/** A part of a result, with the description of the whole. */
export interface KeptResultPart extends ResultPart {
  readonly summary: ResultSummary;
}

export interface Results {
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>;
  keepFile(owner: ResultOwner, file: KeptFile): Promise<ResultId>;
  /**
   * Throws `REQUEST_NOT_FOUND` for an invalid handle, an expired result or another principal's; `REQUEST_INVALID` for a
   * path that does not exist or a page of a value without parts.
   */
  read(principal: PrincipalId, rawHandle: unknown, query: ResultQuery): Promise<KeptResultPart>;
  /** Describes it without reading it. Throws like `read`. */
  summarize(principal: PrincipalId, rawHandle: unknown): Promise<ResultSummary>;
  /** The file of a handle; `undefined` for a kept value and for what `read` would not find. */
  findFile(principal: PrincipalId, handle: ResultId): Promise<(KeptFile & Pick<ResultSummary, "labels">) | undefined>;
}
