/** The front door of `processes`: children never outlive the gateway, and a gateway that ended is known to have. */

export { measureFamily } from "./measure-family.ts";
export { hasEnded, nameProcess } from "./name-process.ts";
export { openReaper } from "./reaper.ts";
export type { Reaper, ReaperOptions } from "./reaper.ts";
export { watchFamily } from "./watch-family.ts";
export { endWithLauncher } from "./end-with-launcher.ts";
