/** Ends a child server and everything that it started, and explains what happened to it. */

import type { ChildProcess } from "node:child_process";

import { settlesWithin } from "../../../timing/index.ts";

import type { StdioSettings } from "../../settings.ts";
import { unreachable } from "../../upstream-error.ts";
import type { UpstreamFailure } from "../../upstream-error.ts";

/** How long a server may take to exit after its input ended, and again after SIGTERM. */
const PATIENCE_MS = 500;

/**
 * Closes its input, then sends SIGTERM to the whole group, then SIGKILL. Resolves when the child has exited. Calls
 * `look` before each step, while the processes that the child started can still be found.
 */
export async function endChild(child: ChildProcess, look: () => void): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = untilEvent(child, "exit");
  for (const step of [() => child.stdin?.end(), () => signalGroup(child, "SIGTERM")]) {
    look();
    step();
    if (await settlesWithin(exited, PATIENCE_MS)) return;
  }
  look();
  signalGroup(child, "SIGKILL");
  await exited;
}

/**
 * Signals the group that the child leads or led. Processes that it left behind keep the group's number in use, so a
 * number that still exists is still ours.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // All processes of the group have exited, or the platform has no groups: only the child gets the signal.
    child.kill(signal);
  }
}

/** Never rejects, unlike `once` of `node:events`: an `error` of the child must not look like its exit. */
export function untilEvent(child: ChildProcess, event: "exit" | "close"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

const LOOK_AT_OUTPUT = "`glovebox servers` shows its last output";

/** The system reports a missing folder as a missing command, so the hint names both when a folder is configured. */
export function describeSpawnError(
  thrown: unknown,
  { command, cwd }: Pick<StdioSettings, "command" | "cwd">,
): UpstreamFailure {
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
