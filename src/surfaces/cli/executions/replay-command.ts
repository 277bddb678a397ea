/** `glovebox executions replay`: runs a past execution again from its journal or an export, without upstreams. */

import { GloveboxError, defined, parseExecutionId, parseJson } from "../../../domain/index.ts";
import type { EngineName, ExecutionId } from "../../../domain/index.ts";
import type { KeptExecution, ReplayResult } from "../../../execution/index.ts";
import { parseRecording } from "../../parse-request.ts";
import { readText } from "../add-command.ts";
import type { Invocation } from "../add-command.ts";
import { EXIT, watchInterrupt } from "../powers.ts";
import type { Terminal } from "../powers.ts";
import { printJson, printLine, printResult } from "../print.ts";

interface ReplayFlags {
  /** As text, because the list has an option of this name, whose parser would take it. */
  readonly until?: string;
  readonly code?: string;
  readonly engine?: EngineName;
}

const FILE_HINT = "Pass an execution id (ex_ and 24 hex digits), or a file from `glovebox executions export`";

/** Exit code 1 if it differs from the first time, or if other code failed. */
export async function replayCommand(invocation: Invocation<ReplayFlags>, subject: string): Promise<number> {
  const { flags, powers, terminal } = invocation;
  const { engine } = flags;
  const until = flags.until === undefined ? undefined : parseCall(flags.until);
  if (until !== undefined && flags.code !== undefined) {
    throw new GloveboxError("REQUEST_INVALID", "--until cannot be used with --code", { hint: "Remove one of them" });
  }
  const code = flags.code === undefined ? undefined : await readText(flags.code, terminal, FILE_HINT);
  const settings = await invocation.loadSettings();
  const id = parseExecutionId(subject);
  const kept = id
    ? await findRecording(id, invocation)
    : parseRecording(parseJson(await readText(subject, terminal, FILE_HINT)));
  using interrupt = watchInterrupt(terminal);
  const { signal } = interrupt;
  const replayed = await powers.showReplay(settings, kept, { signal, ...defined({ until, code, engine }) });
  if (flags.json) printJson(terminal.stdout, { same: replayed.difference === undefined, ...replayed });
  else printReplayed(replayed, kept, { ...flags, terminal });
  return signal.aborted ? EXIT.interrupted : exitOf(replayed, code !== undefined);
}

function parseCall(text: string): number {
  const seq = Number(text);
  if (Number.isSafeInteger(seq) && seq >= 1) return seq;
  throw new GloveboxError("REQUEST_INVALID", `--until ${JSON.stringify(text)} is not the number of a call`, {
    hint: "`glovebox executions show ID` numbers the calls",
  });
}

/** Closes the store before the replay starts. */
async function findRecording(id: ExecutionId, { principal, openRecords }: Invocation): Promise<KeptExecution> {
  await using records = await openRecords();
  return await records.findRecording(id, { actor: principal.id, action: "execution.replayed" });
}

function exitOf({ result, difference }: ReplayResult, isChanged: boolean): number {
  const isGood = difference === undefined && (!isChanged || result.state === "completed");
  return isGood ? EXIT.done : EXIT.failed;
}

function printReplayed(
  { result, difference }: ReplayResult,
  { result: first }: KeptExecution,
  { terminal, ...flags }: ReplayFlags & { readonly terminal: Terminal },
): void {
  const { stdout, stderr } = terminal;
  printResult(result, stdout, stderr);
  if (flags.until !== undefined) {
    for (const { seq, tool, outcome } of result.calls) {
      printLine(stderr, `  ${seq} ${tool} ${outcome === "unknown" ? "no answer yet" : outcome}`);
    }
  }
  const isPrinted = result.error?.code === "REPLAY_DIVERGED";
  if (difference !== undefined && !isPrinted) printLine(stderr, `error: ${difference} [REPLAY_DIVERGED]`);
  if (difference === undefined) printLine(stderr, describeSame(flags, first !== undefined));
}

function describeSame({ until, code }: ReplayFlags, wasCompared: boolean): string {
  if (code !== undefined) return "replayed with other code; no upstream was called";
  if (until !== undefined) return `replayed up to the answer of call ${until}; no upstream was called`;
  return wasCompared ? "replayed; the result is the same" : "replayed as far as it came; it has not ended yet";
}
