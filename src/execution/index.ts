/** The front door of `execution`: leads one request through the rooms, settles and keeps its result. */

export { callTools } from "./call-tools.ts";
export type { CallRequest, Called, PlainCall } from "./call-tools.ts";
export { createBuiltins } from "./create-builtins.ts";
export { createDescribe } from "./create-describe.ts";
export { createRecord } from "./create-record.ts";
export type { ExecutionRecord, RecordOptions } from "./create-record.ts";
export { execute } from "./execute.ts";
export type { ExecutionRequest, Rooms } from "./execute.ts";
export { followRunning } from "./follow-running.ts";
export type { Running } from "./follow-running.ts";
export { findMedia } from "./results/find-media.ts";
export type { Media } from "./results/find-media.ts";
export { keepAttachments } from "./results/keep-attachments.ts";
export { openResults } from "./results/open-results.ts";
export type { ReadResult, Results } from "./results/open-results.ts";
export type { ResultQuery } from "./results/read-part.ts";
export { resume } from "./resume.ts";
