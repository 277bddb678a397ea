/**
 * The front door of `processes`: ends child processes with the gateway, and tells whether another process has ended.
 */

export { measureFamily, watchFamily } from "./family.ts";
export { hasEnded, nameProcess } from "./name-process.ts";
export { openReaper } from "./reaper.ts";
export type { Reaper } from "./reaper.ts";
export { endWithLauncher } from "./end-with-launcher.ts";
