/** The known differences between `isolate` and `quickjs`, each with the programs of the corpus that show it. */

import { readFileSync } from "node:fs";

export interface Difference {
  readonly name: string;
  /** By the text of the program, by a request of the program at run time, or not at all. */
  readonly handling: "static" | "guarded" | "documented";
  readonly programs: readonly string[];
}

/** In the order of docs/reference/engines.md. */
export function readDifferences(): readonly Difference[] {
  return JSON.parse(
    readFileSync(new URL("./corpus/differences.json", import.meta.url), "utf8"),
  ) as readonly Difference[];
}
