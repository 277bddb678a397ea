/** The front door of `bridge`: carries one call across the wall in seven fixed steps. */

export type { Builtin } from "./builtin.ts";
export { ExecutionSuspended } from "./release-call.ts";
export type { AskDecision } from "./release-call.ts";
export { callsOverrun } from "./record-calls.ts";
export { openBridge } from "./open-bridge.ts";
export type { TracedCall } from "./call-trace.ts";
export type { Bridge, BridgeOptions, InvokeOptions } from "./open-bridge.ts";
