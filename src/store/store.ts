/**
 * What Glovebox remembers, by noun. Nothing here knows which database is behind it.
 * Every method rejects with STORE_UNAVAILABLE while the database cannot be used, and works again once it can.
 */

import type {
  ConnectorId,
  Digest,
  ExecutionId,
  Instant,
  LabelSource,
  PrincipalId,
  ResultId,
  SecretName,
} from "../domain/index.ts";

import type { ApprovalStore } from "./approvals.ts";
import type { CancellationStore } from "./cancellations.ts";
import type { ExecutionStore, JournalStore } from "./executions.ts";
import type { QuotaStore } from "./quotas.ts";

/** One ledger record as text. The store does not look inside, so that a damaged record can still be read and shown. */
export interface StoredRecord {
  /** From 1, without gaps; given by the writer. */
  readonly seq: number;
  readonly at: Instant;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** JSON text. */
  readonly detail: string;
  readonly previous: string;
  readonly digest: string;
}

/** `taken`: another process was faster; nothing of the batch was written. */
export type AppendOutcome = "appended" | "taken";

/** Which records are looked for; what is left out does not matter. */
export interface LedgerQuery {
  readonly limit: number;
  readonly actor?: string;
  /** The whole subject, such as a tool's address. */
  readonly subject?: string;
  /** `call.ended`, or the part before the dot. */
  readonly action?: string;
  /** `ok`, `error`, a state such as `failed`, a decision such as `deny`, or an error's code. */
  readonly outcome?: string;
  /** One, or any of several. */
  readonly execution?: string | readonly string[];
  readonly since?: Instant;
  readonly until?: Instant;
  /** Only records before this number. */
  readonly before?: number;
}

/** The append-only ledger: there is no way to change a record, and only a signed cut drops some. */
export interface LedgerStore {
  /** Newest first. */
  search(query: LedgerQuery): Promise<readonly StoredRecord[]>;
  /** All or nothing; durable once it resolves, or with the next flush if that is not waited for. */
  append(records: readonly StoredRecord[], isFlushed?: boolean): Promise<AppendOutcome>;
  last(): Promise<StoredRecord | undefined>;
  /** Records from `from` on, in order. */
  read(range: { readonly from: number; readonly limit: number }): Promise<readonly StoredRecord[]>;
}

/** A signed statement about the ledger as text; the store looks at the other columns only to find it. */
export interface StatementRow {
  /** From 1, without gaps; given by the writer. */
  readonly number: number;
  readonly kind: "checkpoint" | "cut";
  readonly seq: number;
  readonly at: Instant;
  readonly text: string;
}

/** Checkpoints of the ledger and cuts in it. */
export interface StatementStore {
  append(row: StatementRow): Promise<AppendOutcome>;
  last(): Promise<StatementRow | undefined>;
  lastCut(): Promise<StatementRow | undefined>;
  read(range: { readonly from: number; readonly limit: number }): Promise<readonly StatementRow[]>;
  /** The last checkpoint that is not younger and not further on. */
  findCheckpoint(bounds: { readonly at: Instant; readonly seq: number }): Promise<StatementRow | undefined>;
  /**
   * Deletes at most `limit` of the records that the last cut covers, and with the last of them the statements up to
   * `checkpoint`. Answers how many records went.
   */
  drop(limit: number, checkpoint: number): Promise<number>;
}

/** How far one export of the ledger has come. */
export interface ExportRow {
  readonly id: string;
  /** The last record that was sent. */
  readonly cursor: number;
  readonly sentAt: Instant | null;
  readonly failedAt: Instant | null;
  /** Why the last attempt failed; `null` after one that did not. */
  readonly failure: string | null;
}

/** Who exports, and until when nobody else does. */
export interface ExportLease {
  readonly id: string;
  readonly holder: string;
  readonly now: Instant;
  readonly until: Instant;
}

/** Exports of the ledger; several processes share one, and one at a time sends. */
export interface ExportStore {
  /** `undefined` while somebody else holds it. A new one begins before the first record. */
  claim(lease: ExportLease): Promise<ExportRow | undefined>;
  /** Who holds it, or held it last. */
  holder(id: string): Promise<string | undefined>;
  /** Ends the lease, if it is still this holder's. */
  release(lease: Pick<ExportLease, "id" | "holder">): Promise<void>;
  /** After a batch, or an attempt that failed. */
  note(row: ExportRow): Promise<void>;
  list(): Promise<readonly ExportRow[]>;
}

/** A sealed secret. The store cannot open it. */
export interface SecretRow {
  readonly name: SecretName;
  readonly version: number;
  readonly wrappedKey: Uint8Array;
  readonly nonce: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly createdAt: Instant;
}

/** Sealed secrets, one row for each name. One key wraps them all; the store knows its check value and nothing else of it. */
export interface SecretStore {
  /** The check value of the key; `undefined` before there was one. */
  keyCheck(): Promise<string | undefined>;
  /** Sets it only if there is none, and answers what is stored now: the first of two processes wins. */
  claimKey(check: string): Promise<string>;
  /** Replaces the row of that name; false, and nothing is written, when the key is another one by now. */
  put(row: SecretRow, check: string): Promise<boolean>;
  /** Puts it only if there is none of that name, and answers what is stored now; `undefined` when the key is another one. */
  claim(row: SecretRow, check: string): Promise<SecretRow | undefined>;
  find(name: SecretName): Promise<SecretRow | undefined>;
  /** Sorted by name. */
  list(): Promise<readonly SecretRow[]>;
  /** False when there was none. */
  remove(name: SecretName): Promise<boolean>;
  /**
   * In one step: every row gets the wrapped key that `wrap` answers, and the key is `to`. False when it was not `from`.
   * What `wrap` throws leaves everything as it was; it may run twice. The former wrapped keys are erased from the file.
   */
  rewrap(keys: { readonly from: string; readonly to: string }, wrap: (row: SecretRow) => Uint8Array): Promise<boolean>;
  /** Runs `work`, perhaps twice, while nobody else can write, if the key is this one; `undefined` when it is not. */
  whileKey<Value>(check: string, work: () => Value): Promise<Value | undefined>;
}

/** A definition of a tool that waits for a person. */
export interface HeldRow {
  readonly connector: ConnectorId;
  /** The server's own name of the tool. */
  readonly remoteName: string;
  readonly digest: Digest;
  /** Canonical JSON, of which long texts may be cut. */
  readonly definition: string;
  readonly seenAt: Instant;
}

/** A definition of a tool that was accepted, by a person or at first sight. */
export interface PinRow extends Omit<HeldRow, "seenAt"> {
  readonly pinnedAt: Instant;
  readonly pinnedBy: string;
}

/** Accepted and held-back definitions of tools: at most one of each for a tool of a server. */
export interface PinStore {
  /** What is accepted of one server, by the server's own names of its tools. */
  digests(connector: ConnectorId): Promise<ReadonlyMap<string, Digest>>;
  find(connector: ConnectorId, remoteName: string): Promise<PinRow | undefined>;
  /** Pins what has no pin yet; of two processes the first wins, and nobody fails. */
  claim(rows: readonly PinRow[]): Promise<void>;
  /** Replaces pins, and releases what was held if it is the very definition that was accepted. */
  approve(rows: readonly PinRow[]): Promise<void>;
  /** Of one server, or of all; sorted by server and name. */
  held(connector?: ConnectorId): Promise<readonly HeldRow[]>;
  /** These are held now, and no others of that server. */
  replaceHeld(connector: ConnectorId, rows: readonly HeldRow[]): Promise<void>;
}

/** A kept result without its body: what it is, whose it is and until when. */
export interface ResultSummary {
  readonly id: ResultId;
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  readonly mimeType: string;
  readonly bytes: number;
  /** A TypeScript-like outline; empty for what is no JSON. */
  readonly shape: string;
  /** What its makers had read; whoever reads the result has read that too. */
  readonly labels: readonly LabelSource[];
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** A kept result, whole. */
export interface StoredResult extends ResultSummary {
  readonly body: Uint8Array;
}

/** Whose result, and what time it is: a result of somebody else and one that has expired are not found. */
export interface ResultView {
  readonly principal: PrincipalId;
  readonly now: Instant;
}

/** Results that were too large to be given out, and the files that calls brought along. */
export interface ResultStore {
  /**
   * In one step: expired ones go, then the oldest, until this one fits `totalBytes` with the rest.
   * Rejects with LIMIT_SIZE when it alone is larger.
   */
  put(result: StoredResult, totalBytes: number): Promise<void>;
  find(id: ResultId, view: ResultView): Promise<StoredResult | undefined>;
  /** As `find`, without reading the body. */
  findSummary(id: ResultId, view: ResultView): Promise<ResultSummary | undefined>;
}

/** Single facts about the installation. */
export interface MetaStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Removes it, from the file too. */
  erase(key: string): Promise<void>;
  /** Sets the value only if there is none, and answers what is stored now: the first of two processes wins. */
  claim(key: string, value: string): Promise<string>;
}

/** What the results of one tool looked like under one definition. */
export interface ShapeRow {
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly definition: Digest;
  /** JSON text; field names and types, no values. */
  readonly shape: string;
  /** How many results it was learned from. */
  readonly samples: number;
  readonly changedAt: Instant;
}

/** Learned shapes, one row for each tool of each upstream. */
export interface ShapeStore {
  /** Replaces the row of that tool, whatever its definition. */
  put(row: ShapeRow): Promise<void>;
  /** Sorted by upstream and tool. */
  list(): Promise<readonly ShapeRow[]>;
}

/** What the requests of one principal have read. */
export interface LabelRow {
  readonly principal: PrincipalId;
  readonly sources: readonly LabelSource[];
  /** When it last read something labelled. */
  readonly takenAt: Instant;
}

/** Labels of principals whose clients have no sessions, one row each. */
export interface LabelStore {
  /** Replaces the row of that principal. */
  put(row: LabelRow): Promise<void>;
  /** Those that read something after `since`, sorted by principal; older ones are gone for good. */
  list(since: Instant): Promise<readonly LabelRow[]>;
}

/** Owned by whoever opened it. Several processes may have the same one open. */
export interface Store extends AsyncDisposable {
  readonly executions: ExecutionStore;
  readonly journals: JournalStore;
  readonly ledger: LedgerStore;
  readonly statements: StatementStore;
  readonly exports: ExportStore;
  readonly secrets: SecretStore;
  readonly pins: PinStore;
  readonly meta: MetaStore;
  readonly shapes: ShapeStore;
  readonly results: ResultStore;
  readonly quotas: QuotaStore;
  readonly labels: LabelStore;
  readonly approvals: ApprovalStore;
  readonly cancellations: CancellationStore;
  /** Resolves when everything that was committed before is on disk. Whatever is durable takes it along. */
  flush(): Promise<void>;
  /** Idempotent. Every later use rejects with STORE_UNAVAILABLE. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
