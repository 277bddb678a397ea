/** `glovebox executions replay`: runs a past execution again from its journal or an export, without upstreams. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import type { Settings } from "../../../config/index.ts";
import { GloveboxError, parseExecutionId } from "../../../domain/index.ts";
import type { EngineName, ExecutionId } from "../../../domain/index.ts";
import type { KeptExecution, ReplayResult } from "../../../execution/index.ts";
import { parseRecording } from "../../parse-recording.ts";
import { EXIT } from "../powers.ts";
import type { Terminal, CommandContext } from "../powers.ts";
import { printJson, printLine, printResult } from "../print.ts";

export interface ReplayFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly until?: number;
  readonly code?: string;
  readonly engine?: EngineName;
}

/** Exit code 1 if it differs from the first time, or if other code failed. */
export async function replayCommand(
  subject: string,
  flags: ReplayFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const { terminal } = powers;
  const { until, code: file } = flags;
  if (until !== undefined && file !== undefined) {
    throw new GloveboxError("REQUEST_INVALID", "--until cannot be used with --code", {
      hint: "Remove one of them",
    });
  }
  const code = file === undefined ? undefined : await readText(file, terminal);
  const settings = await powers.loadSettings(flags.config);
  const id = parseExecutionId(subject);
  const kept = id
    ? await findRecording(settings, id, { powers, principal })
    : parseRecording(parseJson(await readText(subject, terminal)));
  const abort = new AbortController();
  const forget = terminal.onInterrupt(() => abort.abort());
  try {
    const options = {
      signal: abort.signal,
      ...(until !== undefined && { until }),
      ...(code !== undefined && { code }),
      ...(flags.engine && { engine: flags.engine }),
    };
    const replayed = await powers.showReplay(settings, kept, options);
    if (flags.json) printJson(terminal.stdout, { same: replayed.difference === undefined, ...replayed });
    else printReplayed(replayed, kept, { ...flags, terminal });
    return abort.signal.aborted ? EXIT.interrupted : exitOf(replayed, code !== undefined);
  } finally {
    forget();
  }
}

/** Closes the store before the replay starts. */
async function findRecording(
  settings: Settings,
  id: ExecutionId,
  { powers, principal }: CommandContext,
): Promise<KeptExecution> {
  await using records = await powers.openRecords(settings);
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
  const isTold = result.error?.code === "REPLAY_DIVERGED";
  if (difference !== undefined && !isTold) printLine(stderr, `error: ${difference} [REPLAY_DIVERGED]`);
  if (difference === undefined) printLine(stderr, describeSame(flags, first !== undefined));
}

function describeSame({ until, code }: ReplayFlags, wasCompared: boolean): string {
  if (code !== undefined) return "replayed with other code; no upstream was called";
  if (until !== undefined) return `replayed up to the answer of call ${until}; no upstream was called`;
  return wasCompared ? "replayed; the result is the same" : "replayed as far as it came; it has not ended yet";
}

async function readText(file: string, { cwd }: Terminal): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${file} cannot be read`, {
      cause,
      hint: "Pass an execution id (ex_ and 24 hex digits), or a file from `glovebox executions export`",
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
