/** Starts a server behind its walls: the arguments of bubblewrap and the launcher, and the proxy of the server. */

import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { ConnectorId, NetworkPolicy } from "../../domain/index.ts";
import type { Egress, ProxiedRequest, ServerProxy } from "../../egress/index.ts";
import { assembleUpstreamFilter } from "../../processes/index.ts";
import type { NativeParts } from "../../processes/index.ts";
import { settlesWithin } from "../../timing/index.ts";

import type { ConfineRequest, ServerLaunch } from "../settings.ts";
import { UpstreamError, unreachable } from "../upstream-error.ts";
import { SYSTEM, SYSTEM_FILES, isGranted, isWithin } from "./grants.ts";
import type { Grants } from "./grants.ts";
import { LATE_PROXY, toProxyVariables } from "./late-proxy.ts";
import { LAUNCHER_AT, separate } from "./machine.ts";
import type { Machine, MachinePart, Namespaces } from "./machine.ts";

const FILTER_DESCRIPTOR = 4;
const USERS_DESCRIPTOR = 5;
const HOSTS_DESCRIPTOR = 6;
/** In a network namespace of its own, so that it cannot be taken. */
const PROXY_PORT = 3128;
const HOME_AT = "/home/server";
const LATE_PROXY_AT = "/.glovebox/late-proxy.cjs";
const HOSTS = "127.0.0.1 localhost\n::1 localhost\n";
/** Facts about the machine that runtimes ask for. */
const FACTS = [
  "/proc/cpuinfo",
  "/proc/meminfo",
  "/proc/stat",
  "/proc/loadavg",
  "/proc/uptime",
  "/sys/devices/system/cpu",
];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full"];
const READ_DEVICES = ["/dev/random", "/dev/urandom"];
/** A server at its own user namespace is counted alone. More would only help an attack. */
const MOST_PROCESSES = 1024;
/** A server that is started again does not wait longer for the end of the last one. */
const REMOVE_MS = 1_000;

export interface LaunchOptions {
  readonly id: ConnectorId;
  readonly confine: Pick<ConfineRequest, "limits">;
  readonly networkPolicy: NetworkPolicy | undefined;
  readonly egress: Egress;
  /** Unguessable. */
  readonly createPassword?: () => string;
  /** Writes each request of the server to the ledger. */
  readonly onRequest: (request: ProxiedRequest) => Promise<void>;
}

/** What the server is, before the level decides how it is started. */
export interface Plan extends Grants {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  /** Hosts that it reaches without the proxy. */
  readonly unproxied: string;
  /** Node runs it, and can load its support of proxies when the server first needs it. */
  readonly loadsProxyLate: boolean;
}

type Wall = Omit<ServerLaunch, "explainEnd" | "noteError" | "status">;

export async function launchInNamespaces(plan: Plan, options: LaunchOptions, machine: Machine): Promise<Wall> {
  const [namespaces, native] = [valueOf(machine.namespaces), valueOf(machine.native)];
  const filter = assembleUpstreamFilter(native.processor, { kind: "namespaces", isRoot: process.getuid?.() === 0 });
  const proxy = openProxy(options);
  const cwd = isGranted(plan.cwd, plan) ? plan.cwd : HOME_AT;
  const inner = [
    "-m",
    "0",
    "-a",
    "0",
    "-n",
    String(PROXY_PORT),
    "-c",
    cwd,
    ...launcherOptions(filter, { processes: MOST_PROCESSES, ...defined({ ...options.confine.limits }) }),
  ];
  const users = `server:x:${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}:server:${HOME_AT}:/bin/sh\n`;
  return {
    file: namespaces.bubblewrap,
    args: [...wrap(plan, namespaces, native), "--", LAUNCHER_AT, ...inner, "--", plan.file, ...plan.args],
    env: toEnvironment(plan, {
      home: HOME_AT,
      temporary: "/tmp",
      proxy: `http://127.0.0.1:${PROXY_PORT}`,
      lateProxy: LATE_PROXY_AT,
    }),
    inputs: [filter, Buffer.from(users), Buffer.from(HOSTS)],
    onListener: (handle) => proxy.adopt(handle),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** The arguments of bubblewrap: a root of its own, with the software of the machine and what was granted. */
function wrap(
  { read, write, loadsProxyLate }: Plan,
  namespaces: Namespaces,
  { launcher }: NativeParts,
): readonly string[] {
  const bind = (option: string, paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => [option, path, path]);
  return [
    ...separate(namespaces),
    // Node leaves them for a child with a channel, and a server would take the descriptor for its own.
    ...["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE"].flatMap((name) => ["--unsetenv", name]),
    ...SYSTEM.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
    ),
    ...bind(
      "--ro-bind",
      SYSTEM_FILES.filter((path) => existsSync(path)),
    ),
    "--ro-bind-data",
    String(USERS_DESCRIPTOR),
    "/etc/passwd",
    "--ro-bind-data",
    String(HOSTS_DESCRIPTOR),
    "/etc/hosts",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/home",
    "--dir",
    HOME_AT,
    ...bind("--ro-bind", nestFirst(read)),
    ...bind("--bind", nestFirst(write)),
    // A folder to read inside of one to write was hidden by it.
    ...bind(
      "--ro-bind",
      read.filter((path) => write.some((above) => path !== above && isWithin(path, above))),
    ),
    "--ro-bind",
    launcher,
    LAUNCHER_AT,
    ...(loadsProxyLate ? ["--ro-bind", LATE_PROXY, LATE_PROXY_AT] : []),
    "--remount-ro",
    "/",
  ];
}

/** A folder before those in it, which it would hide. */
function nestFirst(paths: readonly string[]): readonly string[] {
  return paths.toSorted((a, b) => a.length - b.length);
}

export async function launchBehindLandlock(plan: Plan, options: LaunchOptions, machine: Machine): Promise<Wall> {
  const [native, version] = [valueOf(machine.native), valueOf(machine.landlock)];
  const filter = assembleUpstreamFilter(native.processor, { kind: "landlock", version });
  const password = options.createPassword?.() ?? crypto.randomUUID();
  const folder = makeFolder(options.id);
  const proxy = openProxy(options, password);
  const port = await proxy.listen();
  const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
  for (const path of [home, temporary]) mkdirSync(path, { mode: 0o700 });
  const lateProxy = join(folder, "late-proxy.cjs");
  if (plan.loadsProxyLate) copyFileSync(LATE_PROXY, lateProxy);
  const rules = (option: string, paths: readonly string[]): readonly string[] =>
    [...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path)))].flatMap((path) => [
      option,
      path,
    ]);
  return {
    file: native.launcher,
    args: [
      "-d",
      "-m",
      String(version),
      "-a",
      String(version),
      ...rules("-x", [...SYSTEM, ...plan.read]),
      ...rules("-r", [...SYSTEM_FILES, ...FACTS, ...READ_DEVICES]),
      ...rules("-w", [...plan.write, ...DEVICES, folder]),
      "-t",
      String(port),
      "-c",
      isGranted(plan.cwd, plan) ? plan.cwd : home,
      ...launcherOptions(filter, options.confine.limits),
      "--",
      plan.file,
      ...plan.args,
    ],
    env: toEnvironment(plan, {
      home,
      temporary,
      proxy: `http://glovebox:${password}@127.0.0.1:${port}`,
      lateProxy,
    }),
    inputs: [filter],
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await settlesWithin(removeFolder(folder), REMOVE_MS);
    },
  };
}

/** For its home folder and its temporary files. */
function makeFolder(id: ConnectorId): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "glovebox-server-")));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    const hint = "Set TMPDIR of the gateway to a folder that it can write";
    throw new UpstreamError(
      unreachable(`it was not started, because Glovebox cannot make a folder for it in ${tmpdir()}${code}`, hint),
      id,
    );
  }
}

/**
 * In another process: a server can leave more files behind than this thread can remove without a pause, and a process that
 * it left behind can put links in the place of folders, which rm does not follow.
 */
function removeFolder(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn("rm", ["-rf", "--", folder], { stdio: "ignore", detached: true });
    child.once("exit", () => resolve());
    child.once("error", () => {
      rmSync(folder, { recursive: true, force: true });
      resolve();
    });
  });
}

function openProxy({ id, egress, networkPolicy, onRequest }: LaunchOptions, password?: string): ServerProxy {
  const policy = networkPolicy ?? { mode: "blocked", setting: `mcpServers.${id}.networkPolicy` };
  return egress.openProxy({ policies: [policy], onRequest, ...defined({ password }) });
}

/** By their numbers: data (2), core dumps (4), processes (6), open files (7). */
function launcherOptions(filter: Buffer, { memoryBytes, processes, openFiles }: ConfineRequest["limits"]) {
  const limits = [
    [2, memoryBytes],
    [4, 0],
    [6, processes],
    [7, openFiles],
  ] as const;
  return [
    "-s",
    `${FILTER_DESCRIPTOR}:${filter.length}`,
    "-E",
    ...limits.flatMap(([number, value]) => (value === undefined ? [] : ["-l", `${number}:${value}`])),
  ];
}

interface Surroundings {
  readonly home: string;
  readonly temporary: string;
  readonly proxy: string;
  readonly lateProxy: string;
}

/** Values are not in arguments, which other users can read. What the configuration sets takes precedence. */
function toEnvironment(
  { env, path, unproxied, loadsProxyLate }: Plan,
  { home, temporary, proxy, lateProxy }: Surroundings,
): Readonly<Record<string, string>> {
  return {
    HOME: home,
    TMPDIR: temporary,
    USER: "server",
    ...toProxyVariables({ proxy, unproxied, env, ...(loadsProxyLate ? { lateProxy } : {}) }),
    PATH: env["PATH"] ?? path,
  };
}

function valueOf<Value>(part: MachinePart<Value>): Value {
  if ("value" in part) return part.value;
  throw new GloveboxError("INTERNAL_BUG", `A level was chosen without a part of it: ${part.missing}`);
}
