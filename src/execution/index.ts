/** The front door of `execution`: leads one request through the rooms and settles its result. */

export { execute } from "./execute.ts";
export type { ExecutionRequest, Rooms } from "./execute.ts";
