/** The front door of `execution`: leads one request through the rooms and settles its result. */

export { createRecord } from "./create-record.ts";
export type { ExecutionRecord, RecordOptions } from "./create-record.ts";
export { execute } from "./execute.ts";
export type { ExecutionRequest, Rooms } from "./execute.ts";
