/** The front door of `bridge`: carries one call across the wall in seven fixed steps. */

export { openBridge } from "./open-bridge.ts";
export type { Bridge, BridgeOptions } from "./open-bridge.ts";
