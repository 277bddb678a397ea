/** Reads a program: its colors, and where it calls tools. Loaded with the first program that is shown, because of its size. */

import { classHighlighter, highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/javascript";

/** A part of a line with the classes of its color. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

export interface ReadProgram {
  /** Absent for a program that is too long to color. */
  readonly lines?: readonly (readonly Span[])[];
  /** The lines, from 1, on which each of the tools is called by its name. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

/** A longer program is shown without colors. */
const MAX_COLORED_CHARS = 100_000;

const script = parser.configure({ dialect: "ts" });

export function readProgram(code: string, tools: readonly string[]): ReadProgram {
  const tree = script.parse(code);
  const places = findPlaces(code, tree, new Set(tools));
  return code.length > MAX_COLORED_CHARS ? { places } : { lines: color(code, tree), places };
}

type Tree = ReturnType<typeof script.parse>;

function color(code: string, tree: Tree): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]];
  highlightCode(
    code,
    tree,
    classHighlighter,
    (text, classes) => void lines.at(-1)?.push({ text, classes }),
    () => void lines.push([]),
  );
  return lines;
}

/** A tool that is called by another name, such as a variable, is not found. */
function findPlaces(code: string, tree: Tree, tools: ReadonlySet<string>): ReadProgram["places"] {
  const places = new Map<string, number[]>();
  if (tools.size === 0) return places;
  const starts = [...code.matchAll(/\n/g)].map(({ index }) => index + 1);
  tree.iterate({
    enter: ({ name, node }) => {
      if (name !== "CallExpression") return;
      const called = node.firstChild;
      const tool = called ? code.slice(called.from, called.to).replaceAll(/[\s?]/g, "") : "";
      if (!called || !tools.has(tool)) return;
      const line = 1 + countUpTo(starts, called.from);
      places.set(tool, [...new Set([...(places.get(tool) ?? []), line])]);
    },
  });
  return places;
}

/** How many of the sorted numbers are at most `limit`. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
