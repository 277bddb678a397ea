/**
 * Wraps the command of a sandbox child in bubblewrap: namespaces of its own for users, mounts, processes, network, IPC
 * and host name; a read-only root with the engine's own files and nothing else; no capabilities, no new privileges; a
 * seccomp filter; an empty environment. It dies with its parent.
 */

import { FILTER_DESCRIPTOR, INFO_DESCRIPTOR } from "../engine.ts";
import type { ChildCommand, EngineFile } from "../engine.ts";

export interface ConfinementTools {
  readonly bubblewrap: string;
  readonly prlimit: string | undefined;
}

/** No file can be written, no core dumped, few descriptors opened. Memory is capped once the engine is up. */
const RLIMITS = ["--core=0", "--fsize=0", "--nofile=64", "--memlock=0", "--msgqueue=0"];

export interface Confinement {
  readonly tools: ConfinementTools;
  readonly files: readonly EngineFile[];
  readonly filter: Buffer | undefined;
}

export function confine(
  { file, args, acceptsWire }: ChildCommand,
  { tools, files, filter }: Confinement,
): ChildCommand {
  const bubblewrap = [
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "sandbox",
    "--disable-userns",
    "--die-with-parent",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--setenv",
    "TZ",
    "UTC",
    ...files.flatMap(({ from, at, isDevice }) => [isDevice ? "--dev-bind" : "--ro-bind", from, at]),
    "--remount-ro",
    "/",
    "--chdir",
    "/",
    "--info-fd",
    String(INFO_DESCRIPTOR),
    ...(filter ? ["--seccomp", String(FILTER_DESCRIPTOR)] : []),
    "--",
    file,
    ...args,
  ];
  const extra = { ...(filter && { filter }), ...(acceptsWire && { acceptsWire }), reportsPid: true };
  if (tools.prlimit === undefined) return { file: tools.bubblewrap, args: bubblewrap, ...extra };
  return { file: tools.prlimit, args: [...RLIMITS, "--", tools.bubblewrap, ...bubblewrap], ...extra };
}
