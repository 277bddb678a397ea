/** Processor time and resident memory of a child, as the kernel reports them: a guest cannot forge these. */

import { closeSync, openSync, readFileSync, readSync } from "node:fs";

export interface ProcessMeasure {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

export const NOTHING_MEASURED: ProcessMeasure = { cpuMs: 0, residentBytes: 0 };

/** Linux counts processor time in hundredths of a second, at any frequency of its timer. */
const TICK_MS = 10;
/** Fields after the command's closing parenthesis, counted from the process state as 0. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const RESIDENT_PAGES = 21;
const USUAL_PAGE_BYTES = 4_096;
/** AT_PAGESZ of the auxiliary vector. */
const PAGE_SIZE_KEY = 6n;

/** More than the line has: some fifty numbers and a short name. */
const line = Buffer.alloc(2_048);
let pageBytes: number | undefined;

/** Returns `undefined` without /proc or if the process is gone. Called for every program: one small read. */
export function measureProcess(pid: number): ProcessMeasure | undefined {
  try {
    pageBytes ??= parsePageBytes(readFileSync("/proc/self/auxv"));
    return parseStat(readLine(`/proc/${pid}/stat`), pageBytes);
  } catch {
    return undefined;
  }
}

/** The command may contain spaces and parentheses, so fields are counted from its last parenthesis. */
export function parseStat(stat: string, bytesOfPage: number): ProcessMeasure {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    cpuMs: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS,
    residentBytes: Number(fields[RESIDENT_PAGES]) * bytesOfPage,
  };
}

/** The size of a page in the auxiliary vector of a 64-bit process. */
export function parsePageBytes(vector: Buffer): number {
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === PAGE_SIZE_KEY) return Number(vector.readBigUInt64LE(at + 8));
  }
  return USUAL_PAGE_BYTES;
}

function readLine(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    return line.toString("latin1", 0, readSync(descriptor, line, 0, line.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
