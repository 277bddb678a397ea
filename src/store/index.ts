/** The interface of `store`. A part of the store is `Store["executions"]`; only rows that several files name are exported. */

export type { ApprovalCall, ApprovalChange, ApprovalHead, ApprovalRow } from "./approvals.ts";
export type { ExecutionSummary, JournalPiece, KeyHolder, RequestKey, StoredExecution } from "./executions.ts";
export { openStore, openStoreToRead } from "./sqlite/open-store.ts";
export type {
  ExportRow,
  HeldRow,
  PinRow,
  ResultSummary,
  SecretRow,
  StatementRow,
  Store,
  StoredRecord,
  StoredResult,
} from "./store.ts";
