/** The front door of `builtins`: what Glovebox itself offers to programs. */

export { createProgramBridges } from "./create-program-bridges.ts";
export { createDiscovery } from "./create-describe.ts";
export { toFetchTool } from "./create-fetch.ts";
export type { FetchPowers } from "./create-fetch.ts";
export { createGuide } from "./create-guide.ts";
export { createToolSearch } from "./create-tool-search.ts";
export { createProgramNetwork } from "./program-network.ts";
export type { ProgramNetwork } from "./program-network.ts";
