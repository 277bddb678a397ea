/** Searches the tools of a snapshot, for clients and for programs: the best ones with their signatures. */

import { createSearch } from "../catalog/index.ts";
import type { SearchRequest, SearchResult } from "../catalog/index.ts";
import type { CatalogSnapshot } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { signCall } from "../typegen/index.ts";

export interface ToolSearch {
  /** `maxCharacters` bounds the tools as JSON; by default only `limit` does. */
  (snapshot: CatalogSnapshot, request: SearchRequest, maxCharacters?: number): SearchResult;
  /** Does most of the first search of a snapshot with pauses. */
  prepare(snapshot: CatalogSnapshot, request: SearchRequest): SlicedWork<void>;
}

export interface ToolSearchRooms {
  /** Adds what was learned about results. */
  readonly shapes?: { addTo(snapshot: CatalogSnapshot): CatalogSnapshot } | undefined;
  /** Removes known secrets from a string. */
  readonly hide: (text: string) => string;
}

export function createToolSearch({ shapes, hide }: ToolSearchRooms): ToolSearch {
  const search = (snapshot: CatalogSnapshot, request: SearchRequest, maxCharacters = Infinity): SearchResult => {
    const shown = shapes?.addTo(snapshot) ?? snapshot;
    return createSearch(snapshot)(request, {
      sign: (tool) => signCall(shown.tools.get(tool.address) ?? tool),
      hide,
      maxCharacters,
    });
  };
  return Object.assign(search, {
    prepare: (snapshot: CatalogSnapshot, request: SearchRequest) => createSearch(snapshot).prepare(request),
  });
}
