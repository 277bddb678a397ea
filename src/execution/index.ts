/** The front door of `execution`: leads one request through the rooms, settles and keeps its result. */

export { closeOrphans } from "./recover/close-orphans.ts";
export type { ToolCallsResult, PlainCall } from "./run/call-tools.ts";
export { createExecutionLog } from "./run/execution-log.ts";
export type { ExecutionLog, ExecutionLogOptions } from "./run/execution-log.ts";
export type { ExecutionRequest, ExecutionDeps } from "./run/execute.ts";
export type { BeginRequest, CallToolsRequest, ExecuteRequest, ViewRequest } from "./requests.ts";
export { createExecutions } from "./executions.ts";
export type { ExecutionsOptions } from "./executions.ts";
export { createControl, createHistory } from "./history/create-history.ts";
export type { ExecutionControl, ExecutionDetails, ExecutionHistory, ExecutionLine } from "./history/create-history.ts";
export type { Media } from "./results/find-media.ts";
export { createResults } from "./results/create-results.ts";
export type { ReadResult, Results } from "./results/create-results.ts";
export type { KeptExecution } from "./replay/kept.ts";
export { parseRecordingFile, toRecordingFile } from "./replay/recording-file.ts";
export { findRecording, showReplay } from "./replay/show-replay.ts";
export type { RecordingAccess, ReplayRequest } from "./replay/show-replay.ts";
export type { ReplayResult } from "./replay/replay.ts";
export { keepJournals } from "./journal/keep-journals.ts";
export { openJournals } from "./journal/open-journals.ts";
export type { Journals } from "./journal/open-journals.ts";
