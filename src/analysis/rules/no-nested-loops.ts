/** Nested loops multiply their steps. Off by default: most nested loops are short. */

import { isLoop } from "../surroundings.ts";
import type { Enclosure } from "../surroundings.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** Within one function only; callbacks do not count. */
export const noNestedLoops: AnalysisRule = {
  name: "no-nested-loops",
  severity: "off",
  check: ({ tree, around }) =>
    tree.nodes
      .filter((node) => isLoop(node) && isInLoop(around(node)))
      .map(({ start: offset }): Objection => ({
        offset,
        message: "this loop runs inside another one, so its steps multiply",
        fix: "index one of the lists with a Map or Object.groupBy, or move the inner loop into a function",
      })),
};

function isInLoop(from: Enclosure | undefined): boolean {
  for (let gate = from; gate && gate.kind !== "function"; gate = gate.outer) if (gate.kind === "loop") return true;
  return false;
}
