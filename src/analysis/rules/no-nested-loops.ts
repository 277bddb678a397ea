/** Loops in loops multiply. Off unless an operator asks: most of them are short and right. */

import { isLoop } from "../surroundings.ts";
import type { Enclosure } from "../surroundings.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** Within one function only: a callback is a step of its own. */
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
