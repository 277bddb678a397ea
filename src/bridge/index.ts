/** The front door of `bridge`: carries one call across the wall, step by step. */

export type { Builtin } from "./builtin.ts";
export type { TracedCall } from "./call-trace.ts";
export { createBridges } from "./create-bridges.ts";
export type { BridgesOptions } from "./create-bridges.ts";
export { ExecutionSuspended } from "./crossing.ts";
export type { AskDecision, BridgeOptions, JournaledCall } from "./crossing.ts";
export { openBridge } from "./open-bridge.ts";
export type { Bridge } from "./open-bridge.ts";
export { callsOverrun } from "./recorder.ts";
