/** The front door of `execution`: opens, runs, suspends, resumes and recovers executions, and keeps their results. */

export { connectRooms } from "./connect-rooms.ts";
export { openExecutions } from "./open-executions.ts";
export type { OpenedExecutions } from "./open-executions.ts";
export { createControl, createHistory } from "./history/create-history.ts";
export type { ExecutionControl, ExecutionDetails } from "./history/create-history.ts";
export { openJournals } from "./journal/open-journals.ts";
export { keepRecords } from "./retention.ts";
export { closeOrphans } from "./recover/close-orphans.ts";
export { findRecording } from "./replay/kept.ts";
export type { KeptExecution } from "./replay/kept.ts";
export { parseRecordingFile, toRecordingFile } from "./replay/recording-file.ts";
export type { ReplayResult } from "./replay/replay.ts";
export { showReplay } from "./replay/show-replay.ts";
export { createSkillRuns } from "./skill-runs.ts";
export type { ExecuteInput } from "./requests.ts";
export { createResults } from "./results/create-results.ts";
export type { Media } from "./results/find-media.ts";
