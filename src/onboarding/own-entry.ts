/** Our own entry in the files of clients. */

import type { Json } from "../domain/index.ts";

/** Its name in every client. */
export const OWN_NAME = "glovebox";

/** By its start, so that an entry with another name is found. */
export function isOwnEntry(name: string, entry: Json): boolean {
  const words = JSON.stringify(entry);
  return /glovebox(?:\.js)?"[^{}]*"mcp"/.test(words) || (name === OWN_NAME && words.includes("glovebox"));
}
