/** Prints results and errors. Data goes to stdout, everything else to stderr. */

import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { cleanText, toPlainJson } from "../../text/index.ts";
import { describeError } from "../../domain/index.ts";
import type { CallPlan, DryRun, ExecutionResult, Finding, GloveboxError, PublicError } from "../../domain/index.ts";
import type { PlanAnswer } from "../gateway.ts";
import { omitRepeatedFindings } from "../omit-repeated.ts";

const LINE_BYTES = 64 * 1024;

/** Removes terminal escapes from text of programs and servers. */
export function printLine(stream: Writable, text: string): void {
  stream.write(`${cleanText(text, { maxBytes: LINE_BYTES })}\n`);
}

/** One exact object on one line, for scripts. */
export function printJson(stream: Writable, value: unknown): void {
  stream.write(`${toPlainJson(value)}\n`);
}

/** Only a plain yes counts. The end of the input is a no. */
export async function askYesNo(question: string, stdin: Readable, stderr: Writable): Promise<boolean> {
  stderr.write(question);
  for await (const line of createInterface({ input: stdin })) return /^y(es)?$/i.test(line.trim());
  return false;
}

export function formatError(error: PublicError): string {
  const place = error.line === undefined ? "" : ` (line ${error.line}, column ${error.column ?? 1})`;
  const lines = [`error: ${error.message}${place} [${error.code}]`];
  if (error.frame !== undefined) lines.push(error.frame);
  if (error.hint !== undefined) lines.push(`hint: ${error.hint}`);
  if (error.incident !== undefined) lines.push(`incident: ${error.incident}`);
  return lines.join("\n");
}

/** For the operator, who may read what a model may not. */
export function formatFault(error: GloveboxError): string {
  return formatError(describeError(error));
}

/** A result for a person: logs, findings and the error on stderr, the value alone on stdout. */
export function printResult(result: ExecutionResult, stdout: Writable, stderr: Writable): void {
  for (const { level, text } of result.logs) printLine(stderr, level === "log" ? text : `${level}: ${text}`);
  printFindings(omitRepeatedFindings(result), stderr);
  if (result.error) printLine(stderr, formatError(result.error));
  if (result.truncated) printLine(stderr, formatTruncation(result.truncated));
  if (result.dryRun) printDryRun(result.dryRun, stderr);
  printLine(stderr, summarize(result));
  for (const { approval, tool, commands, link } of result.questions ?? []) {
    const show = commands?.show ?? `glovebox approvals show ${approval}`;
    const where = link === undefined ? "" : ` (${link})`;
    printLine(stderr, `${tool} waits for approval: \`${show}\`, then approve or reject it${where}`);
  }
  if (result.value !== undefined) stdout.write(`${formatValue(result.value)}\n`);
}

/** The skipped calls, one line each. */
function printDryRun({ writes }: DryRun, stderr: Writable): void {
  printLine(stderr, writes.length === 0 ? "dry run: no call was skipped" : "dry run: skipped calls");
  for (const { seq, tool, effect, decision, args } of writes) {
    const condition = decision === "ask" ? ", after approval" : "";
    printLine(stderr, `  ${seq} ${tool}(${args === undefined ? "…" : toPlainJson(args)}) (${effect}${condition})`);
  }
}

function formatTruncation({ handle, bytes, shape }: NonNullable<ExecutionResult["truncated"]>): string {
  const how = `await glovebox.results.read("${handle}")`;
  return `the result has ${bytes} bytes; above is a sample, a program reads the rest with ${how}: ${shape}`;
}

function printFindings(findings: readonly Finding[], stderr: Writable): void {
  for (const { rule, severity, message, line, column } of findings) {
    printLine(stderr, `${severity}: ${message} (${rule}, line ${line}, column ${column})`);
  }
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? cleanText(value, { maxBytes: Number.MAX_SAFE_INTEGER }) : toPlainJson(value, 2);
}

function summarize({ state, calls, stats, engine, isolation }: ExecutionResult): string {
  const failed = calls.filter(({ outcome }) => outcome !== "ok").length;
  const made = `${countOf(calls.length, "call")}${failed === 0 ? "" : `, ${failed} not ok`}`;
  return `${state} in ${stats.wallMs} ms, ${made}, ${engine} engine, isolation ${isolation}`;
}

/** The plan is on stdout, findings and the cause of a refusal on stderr. */
export function printPlan(answer: PlanAnswer, stdout: Writable, stderr: Writable): void {
  printFindings(answer.ok ? answer.findings : omitRepeatedFindings(answer), stderr);
  if (!answer.ok) return printLine(stderr, formatError(answer.error));
  for (const line of formatPlan(answer.plan)) printLine(stdout, line);
}

/** One line for each tool, and one more if the list is not exact or empty. */
export function formatPlan({ exact, calls }: CallPlan): readonly string[] {
  const lines = calls.map(formatCall);
  if (!exact) return [...lines, "and possibly any other tool: the program computes which tools it calls"];
  return lines.length === 0 ? ["no tool"] : lines;
}

function formatCall({ tool, effect, access, times, when, args = [], at }: CallPlan["calls"][number]): string {
  const places = at.map(({ line, column }) => `${line}:${column}`).join(", ");
  const often = times === "once" ? "once" : "possibly many times";
  const how = access === "computed" ? ", computed" : "";
  const literals = args.map((each) => ` ${JSON.stringify(each)}`).join("");
  return `${tool} (${effect}, ${often}, ${when}${how}) at ${places}${literals}`;
}

/** `1 tool`, `2 tools`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Unchanged lines that are shown around each change of a file. */
export const AROUND = 2;
