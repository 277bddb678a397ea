/** What this machine offers to confine a server. Each part is tried with a real process before it is relied on. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { findBubblewrap, findNative, readLandlock, remedyOfNamespaces } from "../../processes/index.ts";
import type { NativeParts } from "../../processes/index.ts";

const PROBE_MS = 10_000;
const REASON_CHARS = 300;
/** Where a server in its own root finds the launcher. */
export const LAUNCHER_AT = "/.glovebox/launcher";

/** A part that works, or why it does not and what helps. */
export type MachinePart<Value> = { readonly value: Value } | { readonly missing: string; readonly remedy: string };

export interface Machine {
  /** Without it nothing can be confined. */
  readonly native: MachinePart<NativeParts>;
  /** The version of Landlock. */
  readonly landlock: MachinePart<number>;
  readonly namespaces: MachinePart<Namespaces>;
}

export interface Namespaces {
  readonly bubblewrap: string;
  /** In containers with a read-only /proc/sys, the host name and the number of further namespaces cannot be set. */
  readonly isInContainer: boolean;
  /** Where a container hides parts of /proc, the kernel refuses a fresh one. The server has none then. */
  readonly hasProc: boolean;
}

/** The strongest first. */
const WAYS = [
  { isInContainer: false, hasProc: true },
  { isInContainer: true, hasProc: true },
  { isInContainer: true, hasProc: false },
] as const;

/** Takes some milliseconds; the caller keeps the result. */
export async function examineMachine(bubblewrap = findBubblewrap()): Promise<Machine> {
  const native = findParts();
  if ("missing" in native) return { native, landlock: native, namespaces: native };
  return { native, landlock: tryLandlock(native.value), namespaces: await tryNamespaces(native.value, bubblewrap) };
}

function findParts(): MachinePart<NativeParts> {
  const value = findNative();
  if (value) return { value };
  const missing = `${process.platform} on ${process.arch} has no confinement that Glovebox knows`;
  return { missing, remedy: "Run Glovebox on Linux (x64 or arm64)" };
}

function tryLandlock(native: NativeParts): MachinePart<number> {
  const remedy = "Use Linux 5.13 or newer with landlock in its lsm= list, and a container profile that allows it";
  try {
    const value = readLandlock(native);
    return value > 0 ? { value } : { missing: "this kernel or container offers no Landlock", remedy };
  } catch (thrown) {
    return { missing: `the launcher cannot be started: ${String(thrown).slice(0, REASON_CHARS)}`, remedy };
  }
}

async function tryNamespaces(
  { launcher }: NativeParts,
  bubblewrap: string | undefined,
): Promise<MachinePart<Namespaces>> {
  if (bubblewrap === undefined) {
    return { missing: "bubblewrap (bwrap) was not found", remedy: remedyOfNamespaces(undefined) };
  }
  const failures: string[] = [];
  for (const way of WAYS) {
    const value = { bubblewrap, ...way };
    const args = [...separate(value), "--ro-bind", launcher, LAUNCHER_AT];
    try {
      await promisify(execFile)(bubblewrap, [...args, "--", LAUNCHER_AT, "-q"], { env: {}, timeout: PROBE_MS });
      return { value };
    } catch (thrown) {
      const stderr =
        thrown instanceof Error && "stderr" in thrown && typeof thrown.stderr === "string" ? thrown.stderr : "";
      failures.push((stderr.trim() || String(thrown)).slice(0, REASON_CHARS));
    }
  }
  const missing = failures.at(-1) ?? "";
  return { missing, remedy: remedyOfNamespaces(missing) };
}

/**
 * The arguments of bubblewrap for namespaces of its own, without any file but those of the kernel. /proc is read-only:
 * root owns the settings of the kernel in a user namespace too, and could name what it runs when a process crashes.
 */
export function separate({ isInContainer, hasProc }: Namespaces): readonly string[] {
  return [
    ...["user", "ipc", "pid", "net", "uts"].map((name) => `--unshare-${name}`),
    "--unshare-cgroup-try",
    ...(isInContainer ? [] : ["--hostname", "server", "--disable-userns"]),
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    ...(hasProc ? ["--proc", "/proc", "--remount-ro", "/proc"] : []),
    "--dev",
    "/dev",
  ];
}
