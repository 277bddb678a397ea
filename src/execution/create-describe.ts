/** Answers what a name stands for: a tool, a whole server, or a kept result. */

import { findNearest } from "../catalog/index.ts";
import { parseResultId } from "../domain/index.ts";
import type { CatalogSnapshot, Principal } from "../domain/index.ts";
import { describeTools } from "../typegen/index.ts";
import type { Description, Detail } from "../typegen/index.ts";

import { describeResult } from "./results/describe-result.ts";
import type { Results } from "./results/create-results.ts";

const NEAREST = 3;

/** Names that do not exist are in the answer. Rejects with `REQUEST_NOT_FOUND` for a handle that cannot be read. */
export type Describe = (principal: Principal, names: readonly string[], detail: Detail) => Promise<Description>;

/** Handles are described by what is kept under them, everything else by the snapshot of the moment. */
export function createDescribe(takeSnapshot: () => Promise<CatalogSnapshot>, results: Results): Describe {
  return async (principal, names, detail) => {
    const handles = names.filter((name) => parseResultId(name) !== undefined);
    const kept = await Promise.all(handles.map((handle) => results.summarize(principal.id, handle)));
    const described = kept.map((summary) => describeResult(summary)).join("");
    const others = names.filter((name) => !handles.includes(name));
    if (others.length === 0) return { declarations: described, tools: [], unknown: [] };
    const snapshot = await takeSnapshot();
    const nearest = (name: string) => findNearest(snapshot, name, NEAREST);
    const description = describeTools(snapshot, others, { detail, findNearest: nearest });
    return { ...description, declarations: described + description.declarations };
  };
}
