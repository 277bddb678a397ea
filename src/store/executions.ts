/** What is remembered of executions: how they began and ended, and what entered their programs. */

import type { Digest, ErrorCode, Execution, ExecutionId, ExecutionResult, Instant } from "../domain/index.ts";

/** An execution as it is written down before its program starts. */
export interface ExecutionOpening extends Execution {
  /** The author's own text. */
  readonly sourceText: string;
}

/** With the beginning of its journal: a process that dies leaves both or neither. */
export interface JournaledOpening extends ExecutionOpening {
  readonly journal?: readonly JournalPiece[];
}

/** What a client calls a request that it may send twice. */
export interface RequestKey {
  readonly key: string;
  /** Of everything that makes the request what it is. */
  readonly request: Digest;
  /** An execution that held the key and did nothing; this one takes its place. */
  readonly insteadOf?: ExecutionId;
}

/** Who holds a key. */
export interface KeyHolder {
  readonly execution: ExecutionId;
  readonly request: Digest;
}

/** How an execution ended, without its result. */
export interface ExecutionOutcome {
  readonly endedAt: Instant;
  readonly state: ExecutionResult["state"];
  readonly errorCode?: ErrorCode;
}

/** How an execution ended, with the `ExecutionResult` as JSON text. */
export interface ExecutionEnding extends ExecutionOutcome {
  readonly result: string;
}

/** One line of a list; the texts are left out, because a page of them could be hundreds of megabytes. */
export interface ExecutionSummary extends Execution {
  /** `null` while it runs, and after a crash until somebody closes it. */
  readonly ending: ExecutionOutcome | null;
}

/** Everything that is known about one execution. */
export interface StoredExecution extends ExecutionOpening {
  /** `null` while it runs, and after a crash until somebody closes it. */
  readonly ending: ExecutionEnding | null;
}

/** A page of a list, newest first. */
export interface ExecutionPage {
  readonly limit: number;
  /** Go on after this one; an id that is not stored gives an empty page. */
  readonly before?: ExecutionId;
  /** Only those in this state. */
  readonly state?: ExecutionResult["state"] | "running";
}

/** Who takes an execution over, and how it must stand: only one of those who saw it so succeeds. */
export interface OwnershipClaim {
  /** Put away by `from`, or left open by it when it died. */
  readonly was: "paused" | "open";
  readonly from: string | undefined;
  readonly by: string;
}

/** The executions that were started here, and how they ended. */
export interface ExecutionStore {
  /** Rejects with REQUEST_CONFLICT when the id is taken. Waits for no disk: durable with the next flush. */
  open(opening: ExecutionOpening): Promise<void>;
  /** As `open`, but only for the first request of a principal with this key; otherwise says whose it is. */
  openOnce(opening: JournaledOpening, key: RequestKey): Promise<KeyHolder | undefined>;
  /** Closes one that runs or is paused; REQUEST_NOT_FOUND or REQUEST_CONFLICT otherwise: an ending is final. */
  close(id: ExecutionId, ending: ExecutionEnding): Promise<void>;
  find(id: ExecutionId): Promise<StoredExecution | undefined>;
  list(page: ExecutionPage): Promise<readonly ExecutionSummary[]>;
  /** Oldest first; paused ones are not among them. Another process may still be running some of these. */
  listUnfinished(): Promise<readonly ExecutionSummary[]>;
  /** Oldest first. */
  listPaused(): Promise<readonly ExecutionSummary[]>;
  /** From now on another process runs it. False when somebody else was faster, or when it has ended. */
  claim(id: ExecutionId, adoption: OwnershipClaim): Promise<boolean>;
}

/** A part of an execution's journal. The store cannot open it. */
export interface JournalPiece {
  readonly execution: ExecutionId;
  /** From 0, without gaps; given by the writer. */
  readonly piece: number;
  readonly sealed: Uint8Array;
}

/** Which journals are let go: those of executions that ended before `endedBefore`, and the oldest beyond `totalBytes`. */
export interface JournalBounds {
  readonly endedBefore: Instant;
  readonly totalBytes: number;
}

/** What entered programs, sealed. */
export interface JournalStore {
  /**
   * The pieces are asked for when they are about to be written, perhaps more than once. REQUEST_CONFLICT when a piece of
   * that number is there: somebody else writes this journal. Durable once it resolves, or with the next flush if that is
   * not waited for.
   */
  append(pieces: () => readonly JournalPiece[], isFlushed?: boolean): Promise<void>;
  /** In order; empty when there is none, or none any more. */
  read(execution: ExecutionId): Promise<readonly JournalPiece[]>;
  /** Never touches those of executions that have not ended. Answers how many journals went. */
  drop(bounds: JournalBounds): Promise<number>;
}
