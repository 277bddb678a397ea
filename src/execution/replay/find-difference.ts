/** Compares the results of an execution and its replay. */

import { defined } from "../../domain/index.ts";
import type { CallRecord, ErrorCode, ExecutionResult, Json, LogLine, PublicError } from "../../domain/index.ts";

const SHOWN_CHARS = 200;

/** Errors that ended the program from outside, at a point that the recording does not contain. */
const FROM_OUTSIDE: readonly ErrorCode[] = [
  "INTERNAL_BUG",
  "LIMIT_BUSY",
  "LIMIT_MEMORY",
  "LIMIT_QUOTA",
  "LIMIT_TIME",
  "PROGRAM_TYPES",
  "REPLAY_DIVERGED",
  "REQUEST_CANCELLED",
  "SANDBOX_CRASHED",
  "STORE_UNAVAILABLE",
];

/**
 * The first difference, in words; nothing when there is none. Times, and the handle of a large result, do not count, and
 * between two engines neither does the column of an error, which each of them finds in a way of its own.
 */
export function findDifference(first: ExecutionResult, again: ExecutionResult): string | undefined {
  if (again.error?.code === "REPLAY_DIVERGED") return again.error.message;
  if (isCutOff(first)) return compareLogs(first.logs, again.logs.slice(0, first.logs.length));
  const toPlain = (error: PublicError | undefined) => toComparable(error, first.engine === again.engine);
  return (
    compareLogs(first.logs, again.logs) ??
    compare("The state", first.state, again.state) ??
    compare("The error", toPlain(first.error), toPlain(again.error)) ??
    compare("The value", first.value, again.value) ??
    compare("The size", first.truncated?.bytes, again.truncated?.bytes) ??
    compare("The list of calls", first.calls.map(toCall), again.calls.map(toCall))
  );
}

/** True when the program was ended from outside before its own end. */
export function isCutOff({ error }: ExecutionResult): boolean {
  return error !== undefined && FROM_OUTSIDE.includes(error.code);
}

function compareLogs(first: readonly LogLine[], again: readonly LogLine[]): string | undefined {
  const [before, now] = [first, again].map((lines) => lines.map(({ level, text }) => `${level}: ${text}`));
  const longest = Math.max(first.length, again.length);
  for (let at = 0; at < longest; at += 1) {
    const difference = compare(`Line ${at + 1} of the log`, before?.[at], now?.[at]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** An incident has another name each time, and the hint of a program's own error needs another run. */
function toComparable(error: PublicError | undefined, isSameEngine: boolean): Json | undefined {
  if (!error) return undefined;
  const { incident: _, column, frame, hint, ...always } = error;
  const rest = { ...always, ...(error.code === "PROGRAM_THREW" ? {} : defined({ hint })) };
  return { ...rest, ...defined(isSameEngine ? { column, frame } : {}) };
}

function toCall({ seq, tool, outcome }: CallRecord): string {
  return `${seq} ${tool} ${outcome}`;
}

function compare(what: string, first: Json | undefined, again: Json | undefined): string | undefined {
  const [before, now] = [show(first), show(again)];
  if (before === now) return undefined;
  return `${what} was ${cut(before)} and is ${cut(now)}`;
}

function show(value: Json | undefined): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}…`;
}
