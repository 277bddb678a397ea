/** The front door of `catalog`: one named, searchable snapshot of what all servers offer. */

export type { PinEntry, PinPowers } from "./admit-tools.ts";
export { effectOf } from "./effect-of.ts";
export { findChange } from "./find-change.ts";
export { findNearest, findNearestName } from "./find-nearest.ts";
export { nameNamespaces, nameTools } from "./name-tools.ts";
export { openCatalog } from "./open-catalog.ts";
export type { Catalog, CatalogOptions } from "./open-catalog.ts";
export { openShapes } from "./open-shapes.ts";
export type { Drift, Shapes, ShapesOptions } from "./open-shapes.ts";
export { openHeldDefinitions } from "./open-held.ts";
export type { ApproveRequest, HeldDefinitions, HeldTool } from "./open-held.ts";
export { createSearch } from "./search.ts";
export type { FoundTool, Search, SearchRequest, SearchResult } from "./search.ts";
export { watchTools } from "./watch-tools.ts";
export type { ToolsWatch } from "./watch-tools.ts";
