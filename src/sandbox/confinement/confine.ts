/**
 * Wraps the command of a sandbox child in bubblewrap: separate namespaces for users, mounts, processes, network, IPC and
 * host name; a read-only root with only the engine's files; no capabilities, no new privileges; a seccomp filter; an
 * empty environment. It dies with its parent.
 */

import { accessSync, constants } from "node:fs";

import { FILTER_DESCRIPTOR, INFO_DESCRIPTOR } from "../engine.ts";
import type { ChildCommand, EngineFile } from "../engine.ts";

/** Never from PATH: one of its folders may be writable for others, and these programs build the wall. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
/** No file can be written, no core dumped, few descriptors opened. Memory is capped once the engine is up. */
const RLIMITS = ["--core=0", "--fsize=0", "--nofile=64", "--memlock=0", "--msgqueue=0"];

export interface Confinement {
  readonly tools: { readonly bubblewrap: string; readonly prlimit: string | undefined };
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
  const extra = { filter, acceptsWire, reportsPid: true };
  if (tools.prlimit === undefined) return { file: tools.bubblewrap, args: bubblewrap, ...extra };
  return { file: tools.prlimit, args: [...RLIMITS, "--", tools.bubblewrap, ...bubblewrap], ...extra };
}

/** The programs that confinement needs; `undefined` for those that are missing. */
export function findTools(): { readonly bubblewrap: string | undefined; readonly prlimit: string | undefined } {
  return { bubblewrap: findProgram("bwrap"), prlimit: findProgram("prlimit") };
}

function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
