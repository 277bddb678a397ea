/** What the kernel says of a child while it runs: processor time and resident memory, which a guest cannot lie about. */

import { readFileSync } from "node:fs";

export interface Measure {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

export const NOTHING_MEASURED: Measure = { cpuMs: 0, residentBytes: 0 };

/** Linux counts processor time in ticks of a hundredth of a second whatever its timer runs at. */
const TICK_MS = 10;
/** Fields after the command's closing parenthesis, counted from the process state as 0. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** `undefined` where there is no /proc, or the process is gone. */
export function measureProcess(pid: number): Measure | undefined {
  try {
    const cpuMs = parseCpuMs(readFileSync(`/proc/${pid}/stat`, "latin1"));
    const residentBytes = parseResidentBytes(readFileSync(`/proc/${pid}/status`, "latin1"));
    return { cpuMs, residentBytes };
  } catch {
    return undefined;
  }
}

/** The command may contain spaces and parentheses, so fields are counted from its last parenthesis. */
export function parseCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}

export function parseResidentBytes(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
