/** Explains available tools to the author of a program that failed its check: the nearest names and their signatures. */

import { createSearch, findNearest, findSpelled, isDeprecated } from "../catalog/index.ts";
import type { SearchRequest } from "../catalog/index.ts";
import { parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, Tool, ToolAddress, ToolGuide } from "../domain/index.ts";
import { declareToolFirst, signResult, toSignature } from "../typegen/index.ts";

const NEAREST = 3;
/** Of these, deprecated ones are dropped. */
const FOUND = 6;
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
  const isDeprecatedAt = (address: ToolAddress): boolean => {
    const tool = snapshot.tools.get(address);
    return tool !== undefined && isDeprecated(tool);
  };
  return {
    nearest: (name) => {
      const words = name.slice(name.lastIndexOf(".") + 1).slice(0, NAME_CHARS);
      const server = snapshot.namespaces.find((one) => name.startsWith(`${one.name}.`))?.name;
      const search = createSearch(snapshot);
      const byMeaning = (request: SearchRequest): readonly ToolAddress[] => {
        const found = search(request).tools.map((tool) => tool.name);
        const current = found.filter((address) => !isDeprecatedAt(address));
        const [old] = found;
        if (current.length > 0 || old === undefined) return current;
        // Other tools do what a deprecated one did.
        const again = search({ ...request, query: toWords(old) }).tools.map((tool) => tool.name);
        return again.filter((address) => !isDeprecatedAt(address));
      };
      const inServer = server === undefined ? [] : byMeaning({ query: words, server, limit: FOUND });
      const close = findNearest(snapshot, name, NEAREST, { isClose: true });
      const near = findNearest(snapshot, name, NEAREST);
      const isOwn = (address: ToolAddress): boolean => server === undefined || address.startsWith(`${server}.`);
      const [own, others] = split(near, isOwn);
      // `searchProducts` means `listProducts` and not `deleteProduct`, which has fewer other characters.
      const all = [
        ...close.filter(isOwn),
        ...inServer,
        ...own,
        ...others,
        ...byMeaning({ query: words, limit: FOUND }),
      ];
      return [...new Set(all)].slice(0, NEAREST);
    },
    find: (texts) => texts.map((text) => findSpelled(snapshot, text)).find((found) => found !== undefined),
    signature: (address) => {
      const tool = find(address);
      return tool && declareToolFirst(tool, SIGNATURE_CHARS);
    },
    result: (address) => {
      const tool = find(address);
      return tool && (signResult(tool, CALL_CHARS) ?? declareToolFirst(tool, SIGNATURE_CHARS));
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

/** `read File` of `files.readFile`. */
function toWords(address: ToolAddress): string {
  return address.slice(address.lastIndexOf(".") + 1).replaceAll(/(?<=[a-z\d])(?=[A-Z])/gu, " ");
}

function split<T>(all: readonly T[], test: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}
