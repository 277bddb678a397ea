/**
 * The interface of the store, independent of the database.
 * Every method rejects with STORE_UNAVAILABLE while the database cannot be used, and works again once it can.
 */

import {
  parseConnectorId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseResultId,
  parseSecretName,
} from "../domain/index.ts";
import type { ConnectorId, Instant, PrincipalId, ResultId, Seal, SecretName } from "../domain/index.ts";

import type { ApprovalStore } from "./approvals.ts";
import type { CancellationStore, ExecutionStore, JournalStore } from "./executions.ts";
import type { IdentityStore } from "./identity.ts";
import type { QuotaStore } from "./quotas.ts";
import type { SkillStore } from "./skills.ts";
import {
  anyInteger,
  bytes,
  createShape,
  integer,
  labelSources,
  nullable,
  oneOf,
  optional,
  parsed,
  text,
} from "./row.ts";
import type { RowOf } from "./row.ts";

/** One ledger record. The store does not interpret it, so that a damaged record can still be read. */
export const LEDGER_RECORD = createShape({
  /** From 1, without gaps; assigned by the writer. */
  seq: anyInteger,
  at: anyInteger,
  actor: text,
  action: text,
  subject: text,
  /** JSON. */
  detail: text,
  previous: text,
  digest: text,
});
export type StoredRecord = RowOf<typeof LEDGER_RECORD>;

/** `taken`: another process wrote this number first; nothing was written. */
export type AppendOutcome = "appended" | "taken";

/** Filters for records; all are optional. */
export interface LedgerQuery {
  readonly limit: number;
  readonly actor?: string;
  /** The exact subject, such as the address of a tool, or all of a namespace, such as `skills.*`. */
  readonly subject?: string;
  /** Such as `call.ended`, or the part before the dot. */
  readonly action?: string;
  /** `ok`, `error`, a state such as `failed`, a decision such as `deny`, or an error code. */
  readonly outcome?: string;
  /** One, or any of several. */
  readonly execution?: string | readonly string[];
  readonly since?: Instant;
  readonly until?: Instant;
  /** Only records below this number. */
  readonly before?: number;
}

/** The append-only ledger: records cannot be changed, and only a signed cut drops some. */
export interface LedgerStore {
  /** Newest first. */
  search(query: LedgerQuery): Promise<readonly StoredRecord[]>;
  /** All or nothing. Durable on return, or with the next flush if not `isFlushed`. */
  append(records: readonly StoredRecord[], isFlushed?: boolean): Promise<AppendOutcome>;
  /**
   * Resolves when all that this process appended is on disk, at most 200 ms later. Returns the same promise for all
   * records that one flush covers.
   */
  flushed(): Promise<void>;
  last(): Promise<StoredRecord | undefined>;
  /** Returns records from `from` on, in order. */
  read(range: { readonly from: number; readonly limit: number }): Promise<readonly StoredRecord[]>;
}

/** A signed statement about the ledger. The other columns are for queries. */
export const STATEMENT = createShape({
  /** From 1, without gaps; assigned by the writer. */
  number: integer,
  kind: oneOf("checkpoint", "cut"),
  seq: integer,
  at: integer,
  text: text,
});
export type StatementRow = RowOf<typeof STATEMENT>;

/** Checkpoints and cuts of the ledger. */
export interface StatementStore {
  append(row: StatementRow): Promise<AppendOutcome>;
  last(): Promise<StatementRow | undefined>;
  lastCut(): Promise<StatementRow | undefined>;
  read(range: { readonly from: number; readonly limit: number }): Promise<readonly StatementRow[]>;
  /** Returns the last checkpoint up to this time and record. */
  findCheckpoint(bounds: { readonly at: Instant; readonly seq: number }): Promise<StatementRow | undefined>;
  /**
   * Deletes at most `limit` of the records that the last cut covers, and with the last of them the statements up to
   * `checkpoint`. Returns the number of deleted records.
   */
  drop(limit: number, checkpoint: number): Promise<number>;
}

/** The progress of one export of the ledger. */
export const EXPORT = createShape({
  id: text,
  /** The last record that was sent. */
  cursor: integer,
  sentAt: nullable(integer),
  failedAt: nullable(integer),
  /** Why the last attempt failed; `null` if it succeeded. */
  failure: nullable(text),
});
export type ExportRow = RowOf<typeof EXPORT>;

/** Exports of the ledger. Of the processes that share one, only the lease holder sends. */
export interface ExportStore {
  /** Returns `undefined` while another process holds it. A new export starts before the first record. */
  claim(lease: {
    readonly id: string;
    readonly holder: string;
    readonly now: Instant;
    readonly until: Instant;
  }): Promise<ExportRow | undefined>;
  /** Returns the current or last holder. */
  holder(id: string): Promise<string | undefined>;
  /** Ends the lease if this holder still has it. */
  release(lease: { readonly id: string; readonly holder: string }): Promise<void>;
  /** Stores the progress after a batch or a failed attempt. */
  note(row: ExportRow): Promise<void>;
  list(): Promise<readonly ExportRow[]>;
}

/** A sealed secret. The store cannot read it. */
export const SECRET = createShape({
  name: parsed(parseSecretName),
  version: integer,
  wrappedKey: bytes,
  nonce: bytes,
  ciphertext: bytes,
  createdAt: integer,
});
export type SecretRow = RowOf<typeof SECRET>;

/** Sealed secrets by name. One key wraps all of them; the store has only its check value. */
export interface SecretStore {
  /** Returns the check value of the key; `undefined` before the first key. */
  keyCheck(): Promise<string | undefined>;
  /** Sets the check value if none is stored, and returns the stored one: the first of two processes wins. */
  claimKey(check: string): Promise<string>;
  /** Replaces the row of that name. Returns false and writes nothing if the key has changed. */
  put(row: SecretRow, check: string): Promise<boolean>;
  /** Inserts the row unless the name exists, and returns the stored row; `undefined` if the key has changed. */
  claim(row: SecretRow, check: string): Promise<SecretRow | undefined>;
  find(name: SecretName): Promise<SecretRow | undefined>;
  /** Sorted by name. */
  list(): Promise<readonly SecretRow[]>;
  /** Returns false if the name does not exist. */
  remove(name: SecretName): Promise<boolean>;
  /**
   * Atomically replaces every wrapped key by what `wrap` returns and the check value by `to`. Returns false if it was not
   * `from`. If `wrap` throws, nothing changes; it may run twice. The former wrapped keys are erased from the file.
   */
  rewrap(keys: { readonly from: string; readonly to: string }, wrap: (row: SecretRow) => Uint8Array): Promise<boolean>;
  /** Runs `work`, perhaps twice, in a write transaction if the key is this one; otherwise returns `undefined`. */
  whileKey<Value>(check: string, work: () => Value): Promise<Value | undefined>;
}

const DEFINITION = {
  connector: parsed(parseConnectorId),
  /** The name of the tool at the server. */
  remoteName: text,
  digest: parsed(parseDigest),
  /** Canonical JSON; long strings may be shortened. */
  definition: text,
};

/** A definition of a tool that needs approval. */
export const HELD_DEFINITION = createShape({ ...DEFINITION, seenAt: integer });
export type HeldRow = RowOf<typeof HELD_DEFINITION>;

/** An accepted definition of a tool: accepted by a person, or because it was the first. */
export const PIN = createShape({
  ...DEFINITION,
  pinnedAt: integer,
  pinnedBy: text,
  /** The name of the tool in programs, for good; absent in pins of older versions until a gateway names them. */
  name: optional(text),
});
export type PinRow = RowOf<typeof PIN>;

/** A pin without its definition. */
export const PINNED_TOOL = createShape({
  connector: DEFINITION.connector,
  remoteName: text,
  digest: DEFINITION.digest,
  name: optional(text),
});
export type PinnedTool = RowOf<typeof PINNED_TOOL>;

/** Accepted and held-back definitions of tools: at most one of each per tool. */
export interface PinStore {
  /** For one server or all; sorted by server and name. */
  list(connector?: ConnectorId): Promise<readonly PinnedTool[]>;
  find(connector: ConnectorId, remoteName: string): Promise<PinRow | undefined>;
  /** Inserts pins for tools without one; existing pins stay, and so do the names of others. Many are not one transaction. */
  claim(rows: readonly PinRow[]): Promise<void>;
  /** Sets the names of pins that have none. */
  name(tools: readonly Pick<PinRow, "connector" | "remoteName" | "name">[]): Promise<void>;
  /** Replaces pins except their names, without a name that another tool has, and removes held-back definitions with the same digest. */
  approve(rows: readonly PinRow[]): Promise<void>;
  /** For one server or all; sorted by server and name. */
  held(connector?: ConnectorId): Promise<readonly HeldRow[]>;
  /** Replaces all held-back definitions of this server, many of them not in one transaction. */
  replaceHeld(connector: ConnectorId, rows: readonly HeldRow[]): Promise<void>;
}

const SUMMARY = {
  id: parsed(parseResultId),
  principal: parsed(parsePrincipalId),
  execution: parsed(parseExecutionId),
  mimeType: text,
  bytes: integer,
  /** A TypeScript-like outline; empty unless the body is JSON. */
  shape: text,
  /** What the program had read; a reader of the result has then read it too. */
  labels: labelSources,
  createdAt: integer,
  expiresAt: integer,
};

/** A stored result without its body. */
export const RESULT_SUMMARY = createShape(SUMMARY);
export type ResultSummary = RowOf<typeof RESULT_SUMMARY>;

export const RESULT = createShape({ ...SUMMARY, body: bytes });
export type StoredResult = RowOf<typeof RESULT>;

/** Results of other principals and expired results are not found. */
export interface ResultView {
  readonly principal: PrincipalId;
  readonly now: Instant;
}

/** Results that were too large to return, and files that calls returned. */
export interface ResultStore {
  /**
   * Atomically removes expired results, then the oldest ones until all fit into `totalBytes`, and inserts this one. One
   * with a large body is found once it is whole. Rejects with LIMIT_SIZE if it alone is larger. Durable with the next flush.
   */
  put(result: StoredResult, totalBytes: number): Promise<void>;
  find(id: ResultId, view: ResultView): Promise<StoredResult | undefined>;
  /** Like `find`, without reading the body. */
  findSummary(id: ResultId, view: ResultView): Promise<ResultSummary | undefined>;
  /** Removes results that have expired. */
  expire(now: Instant): Promise<void>;
}

/** Single facts about the installation. */
export interface MetaStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Removes the value from the table and the file. */
  erase(key: string): Promise<void>;
  /** Sets the value if none is stored, and returns the stored one: the first of two processes wins. */
  claim(key: string, value: string): Promise<string>;
}

/** What one person's calls showed about the results of one tool definition. */
export const LEARNED_SHAPE = createShape({
  /** The person behind the calls, or who made them. */
  owner: parsed(parsePrincipalId),
  connector: parsed(parseConnectorId),
  remoteName: text,
  definition: parsed(parseDigest),
  /** JSON with field names and types, without values. */
  shape: text,
  /** The number of results it was learned from. */
  samples: integer,
  changedAt: integer,
});
export type ShapeRow = RowOf<typeof LEARNED_SHAPE>;

/** Learned shapes, one row per owner and tool. */
export interface ShapeStore {
  /** Replaces the row of this owner and tool. */
  put(row: ShapeRow): Promise<void>;
  /** Sorted by upstream, tool and owner. */
  list(): Promise<readonly ShapeRow[]>;
}

/** The labels of one principal. */
export const TAKEN_LABELS = createShape({
  principal: parsed(parsePrincipalId),
  sources: labelSources,
  /** The time of the last labeled read. */
  takenAt: integer,
});
export type LabelRow = RowOf<typeof TAKEN_LABELS>;

/** Labels of principals whose clients have no sessions. */
export interface LabelStore {
  /** Replaces the row of this principal. */
  put(row: LabelRow): Promise<void>;
  /** Returns rows with a read after `since`, sorted by principal, and deletes older ones. */
  list(since: Instant): Promise<readonly LabelRow[]>;
}

/** Owned by the code that opened it. Several processes can open the same store. */
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
  readonly identity: IdentityStore;
  readonly skills: SkillStore;
  readonly cancellations: CancellationStore;
  /** Gives the store the seal of results; until then they can be neither written nor read. */
  unlock(seal: Pick<Seal, "close" | "open" | "openBytes">): void;
  /**
   * Seals some results that older versions stored in clear, until none is left. Then rebuilds the file, unless it is larger
   * than `rebuildBytes`, and truncates its log, so that neither contains former values. Returns what is left to do.
   */
  sealOlder(rebuildBytes: number): Promise<"results" | "file" | "nothing">;
  /** Rejects with STORE_UNAVAILABLE and a message without a path while less than `minFreeBytes` is free on its disk. */
  checkSpace(): Promise<void>;
  /** Checks the space, and writes and removes a row. Rejects with STORE_UNAVAILABLE if the store cannot be written now. */
  check(): Promise<void>;
  /** Idempotent. Every later use rejects with STORE_UNAVAILABLE. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
