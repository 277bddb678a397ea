/**
 * The front door of `processes`: ends child processes with the gateway, and tells whether another process has ended.
 */

export { measureFamily } from "./measure-family.ts";
export { hasEnded, nameProcess } from "./name-process.ts";
export { openReaper } from "./reaper.ts";
export type { Reaper, ReaperOptions } from "./reaper.ts";
export { watchFamily } from "./watch-family.ts";
export { endWithLauncher } from "./end-with-launcher.ts";
