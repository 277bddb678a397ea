/** Globals that a program uses and that nothing in the sandbox is called. Somebody may have meant a tool by them. */

import type { Globals } from "./resolve-scopes.ts";

/** What the sandbox has besides ECMAScript, and what programs look for from habit and other rules speak of. */
const KNOWN: ReadonlySet<string> = new Set([
  ..."arguments console glovebox input secrets skills ToolError".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
  ..."document exports global module process require self window".split(" "),
]);

/** In the order of the source. A name that this process has too is no stranger: every engine is at least that rich. */
export function findUnknownNames({ mentions }: Globals, namespaces: ReadonlySet<string>): readonly string[] {
  const isKnown = (name: string): boolean => namespaces.has(name) || KNOWN.has(name) || Object.hasOwn(globalThis, name);
  return [...mentions.keys()].filter((name) => !isKnown(name));
}
