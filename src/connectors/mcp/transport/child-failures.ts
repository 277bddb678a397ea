/** Explains in one sentence each what happened to a child server, and what to do about it. */

import type { ChildProcess } from "node:child_process";

import type { UpstreamFailure } from "../../upstream-error.ts";

const LOOK_AT_OUTPUT = "`glovebox servers` shows its last output";

interface Command {
  readonly command: string;
  readonly cwd?: string;
}

/** The system reports a missing folder as a missing command, so the hint names both when a folder is configured. */
export function describeSpawnError(thrown: unknown, { command, cwd }: Command): UpstreamFailure {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const folder = cwd === undefined ? "" : `, and that the folder ${cwd} exists`;
  if (code === "ENOENT") {
    const hint = `Check that ${command} is installed and on the PATH of the gateway${folder}`;
    return unreachable(`command not found: ${command}`, hint);
  }
  if (code === "EACCES") {
    return unreachable(`permission denied: ${command}`, `Make ${command} executable for the gateway's user${folder}`);
  }
  return unreachable(`cannot start ${command}${code && `: ${code}`}`, "Start the same command by hand to see why");
}

/** The child ended by itself or was killed from outside. */
export function describeExit(child: ChildProcess): UpstreamFailure {
  const how = child.signalCode === null ? `exited with code ${child.exitCode}` : `was ended by ${child.signalCode}`;
  return { ...unreachable(`the server ${how}`, LOOK_AT_OUTPUT), kind: "crash" };
}

/** The server closed its output without exiting. */
export const OUTPUT_CLOSED: UpstreamFailure = {
  ...unreachable("the server closed its output", LOOK_AT_OUTPUT),
  kind: "crash",
};

/** The server sent a line that is longer than is ever kept in memory. */
export function describeOversize(messageBytes: number): UpstreamFailure {
  return {
    code: "UPSTREAM_RESULT_INVALID",
    cause: `the server sent a message larger than ${messageBytes} bytes`,
    hint: "Ask the tool for less at a time",
  };
}

function unreachable(cause: string, hint: string): UpstreamFailure {
  return { code: "UPSTREAM_UNREACHABLE", cause, hint };
}
