/**
 * The process that started the gateway may have left descriptors open, which Node passes on to children. A sandbox child
 * gets the null device in their place.
 */

import { openSync, readFileSync, readdirSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;
/** The first that is not one of the three that every process has. */
const FIRST = 3;

type Stdio = "ignore" | "pipe" | number;

let nullDevice: number | undefined;

/** `wanted`, with an entry for every further descriptor that would go along. */
export function hideInherited(wanted: readonly Stdio[]): Stdio[] {
  const stdio = [...wanted];
  for (const descriptor of listInherited()) {
    if ((stdio[descriptor] ?? "ignore") !== "ignore") continue;
    nullDevice ??= openSync("/dev/null", "r+");
    while (stdio.length < descriptor) stdio.push("ignore");
    stdio[descriptor] = nullDevice;
  }
  return stdio;
}

/** The descriptors that children would inherit. Empty without /proc. */
export function listInherited(): readonly number[] {
  try {
    return readdirSync("/proc/self/fdinfo")
      .map(Number)
      .filter((descriptor) => descriptor >= FIRST && goesAlong(descriptor));
  } catch {
    return [];
  }
}

function goesAlong(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
    return (Number.parseInt(flags ?? "0", 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // it was the one that read the list
  }
}
