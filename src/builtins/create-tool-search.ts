/** Searches the tools of a snapshot, for clients and for programs: the best ones with their signatures. */

import { createSearch } from "../catalog/index.ts";
import type { SearchRequest, SearchResult, Shapes } from "../catalog/index.ts";
import type { CatalogSnapshot, Principal } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { signCall } from "../typegen/index.ts";

export interface ToolSearch {
  /** `maxCharacters` bounds the tools as JSON; by default only `limit` does. */
  (
    viewer: Pick<Principal, "id" | "person">,
    snapshot: CatalogSnapshot,
    request: SearchRequest,
    maxCharacters?: number,
  ): SearchResult;
  /** Does most of the first search of a snapshot with pauses. */
  prepare(snapshot: CatalogSnapshot, request: SearchRequest): SlicedWork<void>;
}

export interface ToolSearchRooms {
  /** Adds what the viewer's person learned about results. */
  readonly shapes?: Pick<Shapes, "addTo"> | undefined;
  /** Removes known secrets from a string. */
  readonly hide: (text: string) => string;
}

export function createToolSearch({ shapes, hide }: ToolSearchRooms): ToolSearch {
  const search: (...request: Parameters<ToolSearch>) => SearchResult = (viewer, snapshot, request, maxCharacters) => {
    const shown = shapes?.addTo(snapshot, viewer) ?? snapshot;
    return createSearch(snapshot)(request, {
      sign: (tool) => signCall(shown.tools.get(tool.address) ?? tool),
      hide,
      maxCharacters: maxCharacters ?? Infinity,
    });
  };
  return Object.assign(search, {
    prepare: (snapshot: CatalogSnapshot, request: SearchRequest) => createSearch(snapshot).prepare(request),
  });
}
