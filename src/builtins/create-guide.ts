/** Explains available tools to the author of a program that failed its check: the nearest names and their signatures. */

import { createSearch, findNearest } from "../catalog/index.ts";
import { parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, Tool, ToolGuide } from "../domain/index.ts";
import { declareToolFirst, toSignature } from "../typegen/index.ts";

const NEAREST = 3;
/** The program chooses the name, so the search uses only this many characters. */
const NAME_CHARS = 100;

/** An error has room for 1,500 characters, including its message and its source frame. */
const SIGNATURE_CHARS = 1_000;
const CALL_CHARS = 600;

/** Computes nothing until a member is called. */
export function createGuide(snapshot: CatalogSnapshot): ToolGuide {
  const find = (address: string): Tool | undefined => {
    const parsed = parseToolAddress(address);
    return parsed && snapshot.tools.get(parsed);
  };
  return {
    nearest: (name) => {
      const words = name.slice(name.lastIndexOf(".") + 1).slice(0, NAME_CHARS);
      const byMeaning = createSearch(snapshot)({ query: words, limit: NEAREST }).tools;
      const all = [...findNearest(snapshot, name, NEAREST), ...byMeaning.map((found) => found.name)];
      return [...new Set(all)].slice(0, NEAREST);
    },
    signature: (address) => {
      const tool = find(address);
      return tool && declareToolFirst(tool, SIGNATURE_CHARS);
    },
    call: (address) => {
      const tool = find(address);
      return tool && toSignature(tool, CALL_CHARS);
    },
    isGuessed: (address) => find(address)?.output === null,
    isWithheld: (address) => {
      const parsed = parseToolAddress(address);
      return parsed !== undefined && [snapshot.withheld, snapshot.hidden].some((tools) => tools?.has(parsed));
    },
  };
}
