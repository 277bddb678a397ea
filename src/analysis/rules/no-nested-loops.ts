/** Nested loops multiply their steps. Off by default: most nested loops are short. */

import { isLoop, withinFunction } from "../surroundings.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** Within one function only; callbacks do not count. */
export const noNestedLoops: AnalysisRule = {
  name: "no-nested-loops",
  severity: "off",
  check: ({ tree, around }) =>
    tree.nodes
      .filter((node) => isLoop(node) && withinFunction(around(node)).some(({ kind }) => kind === "loop"))
      .map(({ start: offset }): Objection => ({
        offset,
        message: "this loop runs inside another one, so its steps multiply",
        fix: "index one of the lists with a Map or Object.groupBy, or move the inner loop into a function",
      })),
};
