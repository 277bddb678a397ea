/** Executions in the store: their start and end, their journals, and requests to cancel them. */

import { isErrorCode, parseDigest, parseExecutionId } from "../domain/index.ts";
import type { Digest, Execution, ExecutionId, ExecutionResult, Instant, PrincipalId } from "../domain/index.ts";

import { bytes, createShape, integer, oneOf, optional, parsed, text } from "./row.ts";
import type { RowOf } from "./row.ts";

/** An execution as it is stored before its program starts. */
export interface StoredOpening extends Execution {
  /** The source as the author wrote it. */
  readonly sourceText: string;
}

/** An idempotency key of a client. */
export interface RequestKey {
  readonly key: string;
  /** The digest of the whole request. */
  readonly request: Digest;
  /** An execution that held the key and did nothing; the new one replaces it. */
  readonly insteadOf?: ExecutionId;
}

/** The execution that holds a key. */
export const KEY_HOLDER = createShape({ execution: parsed(parseExecutionId), request: parsed(parseDigest) });
export type KeyHolder = RowOf<typeof KEY_HOLDER>;

/** How an execution ended, without its result. */
export const OUTCOME = createShape({
  endedAt: integer,
  state: oneOf<ExecutionResult["state"]>("completed", "failed", "paused", "cancelled"),
  errorCode: optional(parsed((raw) => (isErrorCode(raw) ? raw : undefined))),
});
export type ExecutionOutcome = RowOf<typeof OUTCOME>;

/** How an execution ended, with the `ExecutionResult` as JSON. */
export interface ExecutionEnding extends ExecutionOutcome {
  readonly result: string;
  /** The tools that it called, each once; lists find it by them. */
  readonly tools?: readonly string[];
}

/** One entry of a list, without source and result, which can be large. */
export interface ExecutionSummary extends Execution {
  /** `null` while it runs, and after a crash until it is closed. */
  readonly ending: ExecutionOutcome | null;
}

/** A summary with what tells executions apart. */
export interface ListedExecution extends ExecutionSummary {
  /** The beginning of its source. */
  readonly head: string;
  /** The tools that it called up to its last end or suspension, by name; a few of them. */
  readonly tools: readonly string[];
}

export interface StoredExecution extends StoredOpening {
  /** `null` while it runs, and after a crash until it is closed. */
  readonly ending: ExecutionEnding | null;
}

/** A page of a list, newest first. */
export interface ExecutionPage {
  readonly limit: number;
  /** Continue after this one; an unknown id gives an empty page. */
  readonly before?: ExecutionId;
  /** Only this one and newer ones. */
  readonly downTo?: ExecutionId;
  /** Only those in this state. */
  readonly state?: ExecutionResult["state"] | "running";
  readonly principal?: string;
  /** Only those that called this tool, or a tool of this namespace. Not known while one runs. */
  readonly tool?: string;
  readonly namespace?: string;
  /** Only those that started in this time. */
  readonly since?: Instant;
  readonly until?: Instant;
  /** Only those with this text in their source, the name of a tool they called, or their error code; ASCII case is ignored. */
  readonly search?: string;
}

export interface ExecutionStore {
  /** Rejects with REQUEST_CONFLICT if the id exists. Durable with the next flush, like `openOnce` and `close`. */
  open(opening: StoredOpening): Promise<void>;
  /**
   * Like `open`, but only for the first request of a principal with this key; otherwise returns the holder of the key. The
   * first part of the journal is stored with the opening: after a crash either both are stored or neither.
   */
  openOnce(
    opening: StoredOpening & { readonly journal?: readonly JournalPiece[] },
    key: RequestKey,
  ): Promise<KeyHolder | undefined>;
  /** Closes a running or suspended execution. Rejects with REQUEST_NOT_FOUND or REQUEST_CONFLICT: an ending is final. */
  close(id: ExecutionId, ending: ExecutionEnding): Promise<void>;
  find(id: ExecutionId): Promise<StoredExecution | undefined>;
  /** Like `find`, without the result, which is sealed. */
  findHead(id: ExecutionId): Promise<(ExecutionSummary & StoredOpening) | undefined>;
  /** Returns the execution that holds a key of this principal. */
  findHolder(principal: PrincipalId, key: string): Promise<KeyHolder | undefined>;
  list(page: ExecutionPage): Promise<readonly ListedExecution[]>;
  /** The execution that is `count` older than `before`, or than the latest one; `undefined` if there are fewer. */
  skip(page: { readonly before?: ExecutionId; readonly count: number }): Promise<ExecutionId | undefined>;
  /** Oldest first, without suspended ones. Another process may still be running some of them. */
  listUnfinished(): Promise<readonly ExecutionSummary[]>;
  /** Oldest first. */
  listPaused(): Promise<readonly ExecutionSummary[]>;
  /**
   * Makes the process `by` the owner of an execution that `from` suspended, or left open when it died. Returns false if
   * another process was faster or the execution has ended.
   */
  claim(
    id: ExecutionId,
    claim: { readonly was: "paused" | "open"; readonly from: string | undefined; readonly by: string },
  ): Promise<boolean>;
  /**
   * Drops executions that ended before `endedBefore`, and the oldest ended ones whose sources and results exceed
   * `totalBytes`, with their journals, kept results and keys. Returns how many executions were dropped.
   */
  drop(bounds: { readonly endedBefore: Instant; readonly totalBytes: number }): Promise<number>;
}

/** A part of the journal of an execution. The store cannot read it. */
export const JOURNAL_PIECE = createShape({
  execution: parsed(parseExecutionId),
  /** From 0, without gaps; given by the writer. */
  piece: integer,
  sealed: bytes,
});
export type JournalPiece = RowOf<typeof JOURNAL_PIECE>;

/** Sealed journals of what was delivered to programs. */
export interface JournalStore {
  /**
   * `pieces` is called when the write starts, perhaps more than once. Rejects with REQUEST_CONFLICT if a piece with that
   * number exists: another process writes this journal. Durable on return, or with the next flush if not `isFlushed`.
   */
  append(pieces: () => readonly JournalPiece[], isFlushed?: boolean): Promise<void>;
  /** In order; empty if there is none. */
  read(execution: ExecutionId): Promise<readonly JournalPiece[]>;
  /**
   * Drops journals of executions that ended before `endedBefore`, and the oldest ended ones above `totalBytes`. Returns how
   * many journals were dropped.
   */
  drop(bounds: { readonly endedBefore: Instant; readonly totalBytes: number }): Promise<number>;
}

/** A request to cancel an execution that another process runs. */
export const CANCELLATION = createShape({ execution: parsed(parseExecutionId), askedBy: text, askedAt: integer });
export type CancellationRow = RowOf<typeof CANCELLATION>;

/** Requests to cancel executions. The ledger has their outcome; here they wait for the process that runs the execution. */
export interface CancellationStore {
  /** Keeps the first request. Returns false if the execution has ended or does not exist. */
  request(row: CancellationRow): Promise<boolean>;
  /** Requests for running and suspended executions, oldest first. */
  list(): Promise<readonly CancellationRow[]>;
}
