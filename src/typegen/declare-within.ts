/** Declares tools within a number of characters: whole declarations while they fit, then single lines, then a count. */

import type { Tool } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { declareBriefly, declareMember, declareNamespace, namespaceOf } from "./declare-tool.ts";
import type { DescribeDetail } from "./declare-tool.ts";
import { createNamedTypes } from "./types/named-types.ts";
import type { NamedTypes } from "./types/named-types.ts";

/** The share of the room that is left for the single lines of tools whose declarations do not fit. */
const LINES_SHARE = 0.2;
/** Declarations may be this much larger before the types that they repeat are named. */
const MAX_SHRINKING = 2;
/** After this many declarations that do not fit, no more are written: their size is only known then. */
const MAX_MISFITS = 20;
/** Room for both notes about what is left out. */
const NOTES = 250;

const CUT_NOTE =
  "// The size limit is reached: the tools below have one line each. Describe them by name to read their types.";

/** How many characters some lines have as a part of a JSON string, each with its line break; its quotes are one empty line. */
export function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
}

/** Pauses after each tool. */
export function* declareWithin(
  tools: readonly Tool[],
  detail: DescribeDetail,
  room: number,
): SlicedWork<readonly string[]> {
  const chosen = detail === "brief" ? [] : yield* chooseTools(tools, detail, room);
  const whole = detail === "brief" ? [] : declareShared(chosen, detail);
  const isWhole = chosen.length === tools.length && sizeOf(whole) <= room;
  if (isWhole) return whole;
  const left = room - NOTES;
  const count = detail === "brief" ? 0 : yield* countFitting(chosen, detail, left * (1 - LINES_SHARE));
  const declared = detail === "brief" ? [] : declareShared(chosen.slice(0, count), detail);
  const kept = new Set(chosen.slice(0, count));
  const rest = tools.filter((tool) => !kept.has(tool));
  const lines = yield* fillLines(rest, left - sizeOf(declared), detail === "brief");
  const missing = rest.length - lines.length;
  const more = detail !== "brief" && lines.length > 0 ? [CUT_NOTE] : [];
  const note = `// ${missing} more tools are not shown. Use search, then describe them by name.`;
  return [...declared, ...more, ...lines, ...(missing === 0 ? [] : [note])];
}

function* fillLines(tools: readonly Tool[], room: number, pauses: boolean): SlicedWork<readonly string[]> {
  const lines: string[] = [];
  let left = room;
  for (const tool of tools) {
    if (pauses) yield;
    const line = declareBriefly(tool);
    left -= sizeOf([line]);
    if (left < 0) break;
    lines.push(line);
  }
  return lines;
}

/** The tools whose declarations may fit once repeated types are named. */
function* chooseTools(tools: readonly Tool[], detail: "types" | "full", room: number): SlicedWork<readonly Tool[]> {
  const namespaces = new Map<string, NamedTypes>();
  const chosen: Tool[] = [];
  let left = room * MAX_SHRINKING;
  let misfits = 0;
  for (const tool of tools) {
    yield;
    if (misfits > MAX_MISFITS) continue;
    const types = typesOf(namespaces, namespaceOf(tool));
    const before = types.size();
    const spent = declareMember(tool, detail, types).length + types.size() - before;
    if (spent > Math.min(left, room)) misfits += 1;
    else {
      left -= spent;
      chosen.push(tool);
    }
  }
  return chosen;
}

/** The number of first tools whose declarations fit, by halving: sharing makes each one depend on the others. */
function* countFitting(tools: readonly Tool[], detail: "types" | "full", room: number): SlicedWork<number> {
  let [fits, fails] = [0, tools.length + 1];
  while (fails - fits > 1) {
    yield;
    const middle = Math.floor((fits + fails) / 2);
    if (sizeOf(declareShared(tools.slice(0, middle), detail)) <= room) fits = middle;
    else fails = middle;
  }
  return fits;
}

/** One declaration for each namespace, in which every repeated type has a name. */
function declareShared(tools: readonly Tool[], detail: "types" | "full"): readonly string[] {
  const namespaces = new Map<string, NamedTypes>();
  const members = Map.groupBy(tools, namespaceOf);
  return [...members].map(([name, own]) => {
    const types = typesOf(namespaces, name);
    const declared = types.share(own.map((tool) => declareMember(tool, detail, types)));
    return declareNamespace(name, declared, types);
  });
}

function typesOf(namespaces: Map<string, NamedTypes>, name: string): NamedTypes {
  const types = namespaces.get(name) ?? createNamedTypes(name, { isShared: true });
  namespaces.set(name, types);
  return types;
}
