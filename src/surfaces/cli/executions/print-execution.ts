/** Formats one execution for a terminal. The caller cleans every line. */

import type { CallRecord, ExecutionView, Finding, LabelSource } from "../../../domain/index.ts";
import type { ExecutionDetails } from "../../../execution/index.ts";
import { formatError } from "../print.ts";

/** A longer value is cut; `--json` has all of it. */
const VALUE_CHARS = 4_000;

/** In the order of a review: principal and time, source, calls, result. */
export function describeExecution(details: ExecutionDetails): readonly string[] {
  const { id, state, principal, startedAt, endedAt, result, approvals } = details;
  return [
    `${id} ${state}, by ${principal}`,
    `started ${toTime(startedAt)}${endedAt === null ? "" : `, ended ${toTime(endedAt)}`}, ${result.engine} engine`,
    ...section("source", describeSource(details.source, result.findings)),
    ...section("calls", result.calls.map(describeCall)),
    ...section("read", (result.labels ?? []).map(describeLabel)),
    ...section("approvals", approvals.map(describeApproval)),
    ...section(
      "logs",
      result.logs.map(({ level, text }) => (level === "log" ? text : `${level}: ${text}`)),
    ),
    ...describeOutcome(result),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];
}

/** Each finding is below its line. */
function describeSource(source: string, findings: readonly Finding[]): readonly string[] {
  const lines = source.trimEnd().split("\n");
  const width = String(lines.length).length;
  return lines.flatMap((text, index) => [
    `${String(index + 1).padStart(width)} | ${text}`,
    ...findings
      .filter(({ line }) => line === index + 1)
      .map(({ severity, message, rule }) => `${" ".repeat(width)} ^ ${severity}: ${message} (${rule})`),
  ]);
}

function describeCall({ seq, tool, effect, decision, outcome, ms }: CallRecord): string {
  return `${seq} ${tool}, ${effect}, ${decision}: ${outcome}, ${ms} ms`;
}

function describeLabel({ label, tool, execution, seq }: LabelSource): string {
  return `${label}, by ${tool} (call ${seq} of ${execution})`;
}

function describeApproval(approval: ExecutionDetails["approvals"][number]): string {
  const { id, seq, tool, state, scope, decidedBy, reason, note } = approval;
  const how = scope === undefined ? state : `${state} for the ${scope}`;
  const who = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  return `${id} call ${seq}, ${tool}: ${how}${who}; ${reason}${note === undefined ? "" : `; said: ${note}`}`;
}

function describeOutcome({ value, error, truncated, stats, state }: ExecutionView): readonly string[] {
  const used = `${stats.wallMs} ms, ${stats.cpuMs} ms of CPU time, ${stats.peakMemoryBytes} bytes at most`;
  return [
    ...section("error", error ? formatError(error).split("\n") : []),
    ...section("result", value === undefined ? [] : [capValue(JSON.stringify(value))]),
    ...(truncated ? [`  the whole value has ${truncated.bytes} bytes: ${truncated.handle}`] : []),
    ...(state === "running" ? [] : ["", `used: ${used}`]),
  ];
}

function capValue(text: string): string {
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS).toWellFormed()}… (--json has all of it)`;
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
