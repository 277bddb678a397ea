/**
 * Wraps the command of a sandbox child in the launcher, and that in bubblewrap where namespaces can be made. The launcher
 * allows the engine's files only (Landlock), sets limits, drops capabilities and filters system calls. bubblewrap gives
 * separate users, mounts, processes, network and IPC, and a read-only root with the engine's files.
 */

import type { NativeParts } from "../../processes/index.ts";
import { FILTER_DESCRIPTOR, INFO_DESCRIPTOR, WIRE_DESCRIPTOR } from "../engine.ts";
import type { ChildCommand, EngineFile } from "../engine.ts";

/**
 * By their numbers: no file can be written (1), no core dumped (4), few descriptors opened (7), no memory locked (8), no
 * message queued (12). Memory is capped once the engine is up.
 */
const LIMITS = ["1:0", "4:0", "7:64", "8:0", "12:0"];
/** Its default file may not be read, and Node would not start without reading it. This one does not exist. */
const ENVIRONMENT = ["TZ=UTC", "OPENSSL_CONF=/none"];

/** Where a child in its own root finds the native parts. */
const LAUNCHER_AT = "/engine/launcher";
export const SEAL_AT = "/engine/seal.node";

export interface Bubblewrap {
  readonly path: string;
  /** In containers with a read-only /proc/sys, the host name and the number of further namespaces cannot be set. */
  readonly isInContainer: boolean;
}

export interface Confinement {
  /** `undefined` for the launcher alone. */
  readonly bubblewrap: Bubblewrap | undefined;
  readonly native: NativeParts;
  /** The version of Landlock that must be in effect; 0 for none. */
  readonly landlock: number;
  readonly files: readonly EngineFile[];
  /** At most two. The second one is put on by the child itself. */
  readonly filters: readonly Buffer[];
}

/** The paths in `command` are those that the child finds. */
export function confine(command: ChildCommand, confinement: Confinement): ChildCommand {
  const { bubblewrap, native, filters } = confinement;
  const extra = filters.length > 0 ? { filter: Buffer.concat(filters) } : {};
  const args = launch(command, confinement);
  const { acceptsWire } = command;
  if (!bubblewrap) return { file: native.launcher, args: ["-d", ...args], acceptsWire, ...extra };
  const inside = wrap(confinement, bubblewrap);
  return {
    file: bubblewrap.path,
    args: [...inside, "--", LAUNCHER_AT, ...args],
    acceptsWire,
    reportsPid: true,
    ...extra,
  };
}

function launch({ file, args }: ChildCommand, confinement: Confinement): readonly string[] {
  const { bubblewrap, landlock, files, filters, native } = confinement;
  const [first, second] = filters;
  const seal = second ? [{ from: native.seal, at: SEAL_AT }] : [];
  const rules = [...files, ...seal].flatMap(({ from, at, isProgram }: EngineFile) => [
    isProgram ? "-x" : "-r",
    bubblewrap ? at : from,
  ]);
  const descriptors = [WIRE_DESCRIPTOR, ...(second ? [FILTER_DESCRIPTOR] : [])];
  return [
    "-m",
    String(landlock),
    "-a",
    String(landlock),
    ...rules,
    ...(first ? ["-s", `${FILTER_DESCRIPTOR}:${first.length}`] : []),
    ...descriptors.flatMap((descriptor) => ["-k", String(descriptor)]),
    ...LIMITS.flatMap((limit) => ["-l", limit]),
    ...ENVIRONMENT.flatMap((variable) => ["-e", variable]),
    "--",
    file,
    ...args,
  ];
}

function wrap({ files, filters, native }: Confinement, { isInContainer }: Bubblewrap): readonly string[] {
  const parts = [
    { from: native.launcher, at: LAUNCHER_AT },
    ...(filters[1] ? [{ from: native.seal, at: SEAL_AT }] : []),
  ];
  return [
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(isInContainer ? [] : ["--hostname", "sandbox", "--disable-userns"]),
    "--die-with-parent",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--clearenv",
    ...[...files, ...parts].flatMap(({ from, at, isDevice }: EngineFile) => [
      isDevice ? "--dev-bind" : "--ro-bind",
      from,
      at,
    ]),
    "--remount-ro",
    "/",
    "--chdir",
    "/",
    "--info-fd",
    String(INFO_DESCRIPTOR),
  ];
}
