/** `glovebox executions` and its subcommands. */

import { Option } from "commander";
import type { Command } from "commander";

import { GloveboxError, defined, parseExecutionId } from "../../../domain/index.ts";
import type { CallRecord, ExecutionView, Finding, LabelSource } from "../../../domain/index.ts";
import type { ExecutionDetails } from "../../../execution/index.ts";
import { parseCount, parseMoment, writeOutput } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT, exitOf } from "../powers.ts";
import { formatError, printJson, printLine, printResult } from "../print.ts";
import { replayCommand } from "./replay-command.ts";

const USUAL_LIMIT = 50;
/** A longer value is cut; `--json` has all of it. */
const VALUE_CHARS = 4_000;
const STATES = ["running", "completed", "failed", "paused", "cancelled"];

export function addExecutions(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const executions = addJsonCommand(program, "executions", "list executions, newest first", listExecutions)
    .addOption(new Option("--state <name>", "only those in this state").choices(STATES))
    .option("--search <text>", "only those with this text in their source, tool names or error code")
    .option("--principal <name>", "only those of this principal")
    .option("--server <name>", "only those that called a tool of this server")
    .option("--tool <name>", "only those that called this tool")
    .option("--since <time>", "only those that started since then: a date, or a duration such as 2h")
    .option("--until <time>", "only those that started until then")
    .option("--limit <number>", "maximum number (default 50)", parseCount);
  addJsonCommand(executions, "show <id>", "show one execution: source with findings, calls and result", showExecution);
  addJsonCommand(executions, "cancel <id>", "cancel a running or paused execution in any gateway", cancelExecution);
  addJsonCommand(executions, "resume <id>", "resume a suspended execution here, after a decision", resumeExecution);
  addJsonCommand(
    executions,
    "replay <id>",
    "replay an execution from its journal or an export, without upstreams",
    replayCommand,
  )
    .option("--until <call>", "stop after the answer to this call")
    .option("--code <file>", "other code, with the recorded answers")
    .addOption(
      new Option("--engine <name>", "another sandbox engine").choices(["isolate", "quickjs", "workerd", "auto"]),
    );
  addCommand(
    executions,
    "export <id> [file]",
    "write an execution to standard output or a new file, to replay it elsewhere",
    exportExecution,
  );
}

interface HistoryFlags {
  readonly limit?: number;
  readonly state?: ExecutionDetails["state"];
  readonly search?: string;
  readonly principal?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Starts nothing and changes nothing. */
async function listExecutions({ flags, powers, readRecords, print }: Invocation<HistoryFlags>): Promise<void> {
  await using records = await readRecords();
  const { limit = USUAL_LIMIT, state, search, principal, server, tool } = flags;
  const toMoment = (text: string | undefined) => (text === undefined ? undefined : parseMoment(text, powers.now()));
  const [since, until] = [flags.since, flags.until].map(toMoment);
  const query = defined({ state, search, principal, namespace: server, tool, since, until });
  const executions = await records.history.list({ limit, ...query });
  print({ executions }, executions.map(describeLine));
}

/** Starts nothing and changes nothing. Exit 2 if the key that opens the result is not available; the rest is shown. */
async function showExecution({ readRecords, print }: Invocation, id: string): Promise<number | void> {
  await using records = await readRecords();
  const details = await records.history.show(id);
  print(details, describeExecution(details));
  return details.sealed && EXIT.usage;
}

/** Exit 1 if its process did not answer: the request to cancel stays recorded. */
async function cancelExecution(
  { principal, terminal, openRecords, print }: Invocation,
  id: string,
): Promise<number | void> {
  await using records = await openRecords();
  const {
    source: _,
    result: __,
    approvals: ___,
    times: ____,
    ...line
  } = await records.control.cancel(id, principal.id);
  print(line, [describeLine(line)]);
  if (line.endedAt !== null) return;
  printLine(terminal.stderr, "Its process has not answered; it cancels the execution at its next poll");
  return EXIT.failed;
}

type LineField = "id" | "state" | "startedAt" | "endedAt" | "principal" | "errorCode";

function describeLine(execution: Pick<ExecutionDetails, LineField>): string {
  const { id, state, startedAt, endedAt, principal, errorCode } = execution;
  const took = endedAt === null ? "" : `, ${endedAt - startedAt} ms`;
  const code = errorCode === null ? "" : ` [${errorCode}]`;
  return `${id} ${state} ${new Date(startedAt).toISOString()}${took}, by ${principal}${code}`;
}

/** Runs it here if no gateway does. Output and exit codes are those of `run`: exit 3 if it still waits for approval. */
async function resumeExecution({ flags, powers, terminal, ...rest }: Invocation, rawId: string): Promise<number> {
  const show = async (): Promise<ExecutionDetails> => {
    await using records = await rest.readRecords();
    return await records.history.show(rawId);
  };
  const { id, state } = await show();
  if (state === "paused") {
    await using gateway = await powers.openGateway(await rest.loadSettings());
    const forget = terminal.onInterrupt(() => void gateway.close());
    await gateway.resumeNow(id).finally(forget);
  }
  const { result } = await show();
  if (result.state === "running") {
    throw new GloveboxError("REQUEST_CONFLICT", `${id} runs in another process`, {
      hint: "Run `glovebox executions show`",
    });
  }
  const ended = { ...result, state: result.state };
  if (flags.json) printJson(terminal.stdout, result);
  else printResult(ended, terminal.stdout, terminal.stderr);
  return ended.state === "cancelled" ? EXIT.interrupted : exitOf(ended);
}

/** One document for replay elsewhere. It is private to the owner, because it has all deliveries of the program. */
async function exportExecution(
  { powers, principal, terminal, openRecords }: Invocation,
  rawId: string,
  file: string | undefined,
): Promise<void> {
  const id = parseExecutionId(rawId);
  if (!id) {
    throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawId)} is not an execution id`, {
      hint: "Use the id from the result of execute: ex_ and 24 hex digits",
    });
  }
  await using records = await openRecords();
  const kept = await records.findRecording(id, { actor: principal.id, action: "execution.exported" });
  await writeOutput([JSON.stringify(powers.toRecordingFile(kept))], file, terminal);
  if (file !== undefined)
    printLine(terminal.stderr, `written to ${file}; it contains all results that the program received`);
}

/** In the order of a review: principal and time, source, calls, result. */
function describeExecution(details: ExecutionDetails): readonly string[] {
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
    ...(details.sealed ? section("sealed result", formatError(details.sealed).split("\n")) : describeOutcome(result)),
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
