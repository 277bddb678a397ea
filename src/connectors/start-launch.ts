/** Starts the process of a confined server. */

import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessByStdio } from "node:child_process";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";

import type { ServerLaunch } from "./settings.ts";

/** After the standard streams and the channel. */
const FIRST_INPUT = 4;

/** A child whose standard streams are pipes. */
export type PipedChild = ChildProcess &
  Pick<ChildProcessByStdio<Writable, Readable, Readable>, "stdin" | "stdout" | "stderr">;

/** A channel of Node carries the listening socket of the proxy, and pipes carry what must not be in arguments. */
export function startLaunch({ file, args, env, inputs, onListener }: ServerLaunch): PipedChild {
  const channel = onListener ? ("ipc" as const) : ("ignore" as const);
  const stdio = ["pipe", "pipe", "pipe", channel, ...inputs.map(() => "pipe" as const)] as const;
  const child = spawn(file, args, { detached: true, stdio: [...stdio], env, cwd: "/" });
  const [stdin, stdout, stderr] = [child.stdin, child.stdout, child.stderr];
  if (!stdin || !stdout || !stderr) throw new TypeError("A child with pipes has streams");
  // The launcher closes its end before the server starts. Closing this one would suppress the event `close` of the child.
  child.once("message", (_message, handle) => onListener?.(handle));
  child.channel?.unref();
  for (const [index, input] of inputs.entries()) {
    const pipe = child.stdio[index + FIRST_INPUT];
    if (!(pipe instanceof Writable)) throw new TypeError("An extra pipe of a child can be written");
    pipe.on("error", () => undefined); // the exit tells more
    pipe.end(input);
  }
  return Object.assign(child, { stdin, stdout, stderr });
}
