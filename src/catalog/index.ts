/** The interface of `catalog`: one named, searchable snapshot of the tools of all upstreams. */

export { findNearest, findNearestName, findSpelled, isDeprecated } from "./search/find-nearest.ts";
export { openCatalog } from "./open-catalog.ts";
export type { Catalog, NeededServers } from "./open-catalog.ts";
export { nameNamespaces } from "./name-tools.ts";
export { openShapes } from "./shapes/open-shapes.ts";
export type { Shapes } from "./shapes/open-shapes.ts";
export { findChange, openHeldDefinitions } from "./pins/open-held.ts";
export type { HeldDefinitions, HeldTool } from "./pins/open-held.ts";
export { compareTools } from "./pins/compare-tools.ts";
export { listKnownTools } from "./pins/list-known-tools.ts";
export { createSearch } from "./search/search.ts";
export type { SearchRequest, SearchResult } from "./search/search.ts";
export { watchTools } from "./watch-tools.ts";
