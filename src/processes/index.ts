/** The front door of `processes`: children never outlive the gateway. */

export { measureFamily } from "./measure-family.ts";
export { openReaper } from "./reaper.ts";
export type { Reaper, ReaperOptions } from "./reaper.ts";
