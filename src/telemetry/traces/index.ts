/** The door of traces: loaded only when they are on. */

export { openTraces } from "./open-traces.ts";
export type { Traces, TracesOptions } from "./open-traces.ts";
