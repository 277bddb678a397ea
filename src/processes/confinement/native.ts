/** The native parts of confinement, which the build copies into this room, and bubblewrap. See `native/README.md`. */

import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import type { Processor } from "./assemble-filter.ts";

/** Never from PATH: one of its folders may be writable for others, and this program builds the wall. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export interface NativeParts {
  readonly processor: Processor;
  readonly launcher: string;
  readonly seal: string;
  readonly probe: string;
}

/** `undefined` where there are none: they are for Linux on x86-64 and arm64. */
export function findNative(platform = process.platform, processor: string = process.arch): NativeParts | undefined {
  if (platform !== "linux" || (processor !== "x64" && processor !== "arm64")) return undefined;
  const find = (name: string): string => findBuilt(`${platform}-${processor}/${name}`);
  return { processor, launcher: find("launcher"), seal: find("seal.node"), probe: find("probe") };
}

function findBuilt(name: string): string {
  const file = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL(`../../../dist/processes/native/${name}`, import.meta.url)
      : new URL(`../native/${name}`, import.meta.url),
  );
  if (existsSync(file)) return file;
  throw new GloveboxError("SANDBOX_UNAVAILABLE", "The launcher is not built", {
    hint: "Install Glovebox again; in a clone run `npm run build`",
  });
}

/** The version of Landlock that this kernel offers, or 0. Throws if the launcher does not run here. */
export function readLandlock({ launcher }: NativeParts): number {
  return Number(execFileSync(launcher, ["-q"], { env: {}, encoding: "latin1" }));
}

/** The path of bubblewrap; `undefined` if it is missing. */
export function findBubblewrap(): string | undefined {
  return FOLDERS.map((folder) => `${folder}/bwrap`).find(isExecutable);
}

/** What helps where bubblewrap fails with this text, or where it is missing. */
export function remedyOfNamespaces(failure: string | undefined): string {
  if (failure === undefined) return "Install the package bubblewrap: apt-get install bubblewrap";
  if (/\/proc\/|(?:uid|gid) map: Read-only/.test(failure)) {
    return "Mount /proc so that it can be written: bubblewrap sets the users of a namespace there";
  }
  return "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or a container profile that does";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
