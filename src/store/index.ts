/** The front door of `store`. */

export { openStore } from "./sqlite/open-store.ts";
export type { StoreOptions } from "./sqlite/open-store.ts";
export type {
  AppendOutcome,
  ExecutionEnding,
  ExecutionOpening,
  ExecutionOutcome,
  ExecutionStore,
  ExecutionSummary,
  HeldRow,
  LedgerStore,
  MetaStore,
  Page,
  PinRow,
  PinStore,
  ResultStore,
  ResultSummary,
  ResultView,
  SecretRow,
  SecretStore,
  ShapeRow,
  ShapeStore,
  Store,
  StoredExecution,
  StoredRecord,
  StoredResult,
} from "./store.ts";
