/** `glovebox executions`, `executions show` and `executions cancel`. */

import type { ExecutionDetails } from "../../../execution/index.ts";
import { EXIT } from "../powers.ts";
import type { CommandContext } from "../powers.ts";
import { describeExecution } from "./print-execution.ts";
import { printJson, printLine } from "../print.ts";

export interface ExecutionsFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit?: number;
  readonly state?: ExecutionDetails["state"];
}

const USUAL_LIMIT = 50;

/** Starts nothing and changes nothing. */
export async function executionsCommand(flags: ExecutionsFlags, { powers }: CommandContext): Promise<number> {
  const { stdout } = powers.terminal;
  await using records = await powers.readRecords(await powers.loadSettings(flags.config));
  const { history } = records;
  const { limit = USUAL_LIMIT, state } = flags;
  const executions = await history.list({ limit, ...(state !== undefined && { state }) });
  if (flags.json) printJson(stdout, { executions });
  for (const line of flags.json ? [] : executions) printLine(stdout, describeLine(line));
  return EXIT.done;
}

/** Starts nothing and changes nothing. */
export async function showExecutionCommand(
  id: string,
  flags: ExecutionsFlags,
  { powers }: CommandContext,
): Promise<number> {
  const { stdout } = powers.terminal;
  await using records = await powers.readRecords(await powers.loadSettings(flags.config));
  const { history } = records;
  const details = await history.show(id);
  if (flags.json) printJson(stdout, details);
  for (const line of flags.json ? [] : describeExecution(details)) printLine(stdout, line);
  return EXIT.done;
}

/** Exit 1 if its process did not answer: the request to cancel stays recorded. */
export async function cancelExecutionCommand(
  id: string,
  flags: ExecutionsFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const { stdout, stderr } = powers.terminal;
  await using records = await powers.openRecords(await powers.loadSettings(flags.config));
  const { control } = records;
  const { source: _source, result: _result, approvals: _approvals, ...line } = await control.cancel(id, principal.id);
  if (flags.json) printJson(stdout, line);
  else printLine(stdout, describeLine(line));
  if (line.endedAt !== null) return EXIT.done;
  printLine(stderr, "Its process has not answered; it cancels the execution at its next poll");
  return EXIT.failed;
}

function describeLine({
  id,
  state,
  startedAt,
  endedAt,
  principal,
  errorCode,
}: Omit<ExecutionDetails, "source" | "result" | "approvals">): string {
  const took = endedAt === null ? "" : `, ${endedAt - startedAt} ms`;
  const code = errorCode === null ? "" : ` [${errorCode}]`;
  return `${id} ${state} ${new Date(startedAt).toISOString()}${took}, by ${principal}${code}`;
}
