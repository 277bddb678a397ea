/** Finds the programs that confinement is made of, in the places where a system keeps them: never through PATH. */

import { accessSync, constants } from "node:fs";

import type { ConfinementTools } from "./confine.ts";

/** A folder of PATH may be writable for others; what stands around the wall must not come from there. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export function findTools(): Partial<ConfinementTools> {
  const bubblewrap = findProgram("bwrap");
  const prlimit = findProgram("prlimit");
  return { ...(bubblewrap !== undefined && { bubblewrap }), ...(prlimit !== undefined && { prlimit }) };
}

function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
