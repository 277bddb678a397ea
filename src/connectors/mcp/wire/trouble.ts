/** Says in one sentence each what happened to a child server and what to do about it. */

import type { ChildProcess } from "node:child_process";

import type { Trouble } from "./wire.ts";

interface Command {
  readonly command: string;
  readonly cwd?: string;
}

/** The system reports a missing folder as a missing command, so the hint names both when a folder was given. */
export function describeSpawnError(thrown: unknown, { command, cwd }: Command): Trouble {
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

/** Of a child that ended by itself or was killed by somebody else. */
export function describeExit(child: ChildProcess): Trouble {
  const how = child.signalCode === null ? `exited with code ${child.exitCode}` : `was ended by ${child.signalCode}`;
  return { ...unreachable(`the server ${how}`, "`glovebox servers` shows what it printed last"), kind: "crash" };
}

/** Of a server that closed its output and did not exit. */
export const MUTE: Trouble = {
  ...unreachable("the server closed its output", "`glovebox servers` shows what it printed last"),
  kind: "crash",
};

/** Of a server that sent more in one line than is ever joined in memory. */
export function describeOversize(messageBytes: number): Trouble {
  return {
    code: "UPSTREAM_RESULT_INVALID",
    cause: `the server sent a message larger than ${messageBytes} bytes`,
    hint: "Ask the tool for less at a time",
  };
}

function unreachable(cause: string, hint: string): Trouble {
  return { code: "UPSTREAM_UNREACHABLE", cause, hint };
}
