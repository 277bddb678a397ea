/** The front door of `store`. */

export type {
  ApprovalBound,
  ApprovalCall,
  ApprovalChange,
  ApprovalChanges,
  ApprovalHead,
  ApprovalPage,
  ApprovalRow,
  ApprovalSelection,
  ApprovalStore,
  WaitingApproval,
} from "./approvals.ts";
export { KEPT_ARGUMENT_BYTES } from "./approvals.ts";
export { openStore, openStoreToRead } from "./sqlite/open-store.ts";
export type { StoreOptions } from "./sqlite/open-store.ts";
export type { CancellationRow, CancellationStore } from "./cancellations.ts";
export type { PlaceClaim, QuotaClaim, QuotaOutcome, QuotaStore, TakenUnits, WindowClaim } from "./quotas.ts";
export type {
  OwnershipClaim,
  JournalBounds,
  JournalPiece,
  JournalStore,
  ExecutionEnding,
  ExecutionOpening,
  ExecutionOutcome,
  ExecutionStore,
  ExecutionSummary,
  KeyHolder,
  ExecutionPage,
  RequestKey,
  StoredExecution,
} from "./executions.ts";
export type {
  AppendOutcome,
  ExportLease,
  ExportRow,
  ExportStore,
  HeldRow,
  LabelRow,
  LabelStore,
  LedgerQuery,
  LedgerStore,
  MetaStore,
  PinRow,
  PinStore,
  ResultStore,
  ResultSummary,
  ResultView,
  SecretRow,
  SecretStore,
  ShapeRow,
  ShapeStore,
  StatementRow,
  StatementStore,
  Store,
  StoredRecord,
  StoredResult,
} from "./store.ts";
