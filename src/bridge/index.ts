/** The front door of `bridge`: carries one call across the wall in seven fixed steps. */

export type { Builtin } from "./builtin.ts";
export { openBridge } from "./open-bridge.ts";
export type { Bridge, BridgeOptions, InvokeOptions } from "./open-bridge.ts";
