/** The front door of `execution`: leads one request through the rooms, settles and keeps its result. */

export { closeOrphans } from "./close-orphans.ts";
export type { Called, PlainCall } from "./call-tools.ts";
export { createBuiltins } from "./create-builtins.ts";
export { createDescribe } from "./create-describe.ts";
export { toFetchTool } from "./create-fetch.ts";
export type { CheckRequest, SendRequest } from "./create-fetch.ts";
export { createGuide } from "./create-guide.ts";
export { createRecord } from "./create-record.ts";
export type { ExecutionRecord, RecordOptions } from "./create-record.ts";
export type { ExecutionRequest, Rooms } from "./execute.ts";
export { createCorridor } from "./create-corridor.ts";
export type { CorridorOptions } from "./create-corridor.ts";
export { createControl, createHistory } from "./history/create-history.ts";
export type { ExecutionControl, ExecutionDetails, ExecutionHistory, ExecutionLine } from "./history/create-history.ts";
export type { Media } from "./results/find-media.ts";
export { keepAttachments } from "./results/keep-attachments.ts";
export { createResults } from "./results/create-results.ts";
export type { ReadResult, Results } from "./results/create-results.ts";
export type { ResultQuery } from "./results/read-part.ts";
export { openJournals } from "./journal/open-journals.ts";
export type { Journals } from "./journal/open-journals.ts";
