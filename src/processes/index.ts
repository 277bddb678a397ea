/**
 * The front door of `processes`: ends child processes with the gateway, tells whether another process has ended, and
 * offers what confines a process.
 */

export { measureFamily, watchFamily } from "./family.ts";
export { hasEnded, nameProcess } from "./name-process.ts";
export { openReaper } from "./reaper.ts";
export type { Reaper } from "./reaper.ts";
export { endWithLauncher } from "./end-with-launcher.ts";
export { assembleFilter, assembleSeal } from "./confinement/assemble-filter.ts";
export { findBubblewrap, findNative, readLandlock, remedyOfNamespaces } from "./confinement/native.ts";
export type { NativeParts } from "./confinement/native.ts";
export { assembleUpstreamFilter } from "./confinement/upstream-filter.ts";
