/**
 * Starts a server behind walls: in namespaces of its own with bubblewrap, or with Landlock alone. Both put the launcher
 * in front of the server, which filters its system calls. Its only way to the network is a proxy of the gateway.
 */

import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { ConnectorId, NetworkPolicy } from "../../domain/index.ts";
import type { Egress, ProxiedRequest, ServerProxy } from "../../egress/index.ts";
import { assembleUpstreamFilter } from "../../processes/index.ts";
import type { NativeParts } from "../../processes/index.ts";

import type { ConfineRequest, ConfinementReport, InstalledServer, NamedPlace } from "../settings.ts";
import type { ServerCommand, ServerLaunch } from "../settings.ts";
import { UpstreamError, unreachable } from "../upstream-error.ts";
import type { UpstreamFailure } from "../upstream-error.ts";
import { findMissing } from "./find-missing.ts";
import { SYSTEM, SYSTEM_FILES, collectGrants, findCommand, isSystem, isWithin } from "./grants.ts";
import type { Grants } from "./grants.ts";
import { LAUNCHER_AT, separate } from "./machine.ts";
import type { Machine, Namespaces, MachinePart } from "./machine.ts";

const FILTER_DESCRIPTOR = 4;
const USERS_DESCRIPTOR = 5;
const HOSTS_DESCRIPTOR = 6;
/** In a network namespace of its own, so that it cannot be taken. */
const PROXY_PORT = 3128;
const HOME_AT = "/home/server";
const HOSTS = "127.0.0.1 localhost\n::1 localhost\n";
const USUAL_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];
/** Version 4 of Landlock, of Linux 6.7, knows TCP ports. */
const NETWORK_VERSION = 4;
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
const MOST_SHOWN = 20;
/** Not through the proxy, unless the operator grants one of them. */
const OWN_HOSTS = ["localhost", "127.0.0.1", "::1"];

export interface ConfinerOptions {
  readonly id: ConnectorId;
  readonly confine: ConfineRequest;
  readonly networkPolicy: NetworkPolicy | undefined;
  readonly machine: () => Promise<Machine>;
  /** The paths that the arguments and the working folder of this server name. */
  readonly listNamed: () => readonly NamedPlace[];
  /** Installs the package that the command would start with npx, if it is not yet, and returns what runs it. */
  readonly locatePackage?: (command: ServerCommand) => Promise<InstalledServer>;
  readonly home: string;
  /** The gateway's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly egress: Egress;
  /** Unguessable. */
  readonly createPassword?: () => string;
  /** Writes each request of the server to the ledger. */
  readonly onRequest: (request: ProxiedRequest) => Promise<void>;
}

/** What the server is, before the level decides how it is started. */
interface Plan extends Grants {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  /** Hosts that it reaches without the proxy. */
  readonly unproxied: string;
}

/** Returns what confines one server at each of its starts. */
export function createConfiner(options: ConfinerOptions): (command: ServerCommand) => Promise<ServerLaunch> {
  const refusedHosts = new Set<string>();
  const missingFiles = new Set<string>();
  const note = (seen: Set<string>, text: string): void => {
    seen.delete(text);
    seen.add(text);
    for (const oldest of [...seen].slice(0, -MOST_SHOWN)) seen.delete(oldest);
  };
  const onRequest = async (request: ProxiedRequest): Promise<void> => {
    if (request.refusal) note(refusedHosts, `${request.host}:${request.port}`);
    await options.onRequest(request);
  };
  return async (command) => {
    const machine = await options.machine();
    const level = chooseLevel(options, machine);
    const plan = planServer(options, await replaceNpx(options, command));
    const noteError = (text: string): void => {
      for (const { path, isThere } of findMissing(text)) {
        const grants = isThere ? { read: [], write: plan.write } : plan;
        if (!isGranted(path, grants)) note(missingFiles, path);
      }
    };
    const explainEnd = (stderr: readonly string[]): UpstreamFailure | undefined => {
      stderr.forEach(noteError);
      return explain(options.id, stderr, missingFiles.size > 0);
    };
    const status = (): ConfinementReport => ({
      level,
      ...defined({
        refusedHosts: refusedHosts.size > 0 ? [...refusedHosts] : undefined,
        missingFiles: missingFiles.size > 0 ? [...missingFiles] : undefined,
      }),
    });
    const launch = level === "strict" ? launchInNamespaces : launchBehindLandlock;
    return { ...(await launch(plan, { ...options, onRequest }, machine)), explainEnd, noteError, status };
  };
}

function chooseLevel({ id, confine: { level } }: ConfinerOptions, { native, landlock, namespaces }: Machine) {
  if (level !== "files" && "value" in namespaces) return "strict";
  if (level !== "strict" && "value" in landlock && landlock.value >= NETWORK_VERSION) return "files";
  const [layer, part]: readonly [string, MachinePart<unknown>] =
    "missing" in native
      ? ["launcher", native]
      : level === "strict"
        ? ["namespaces", namespaces]
        : ["landlock", landlock];
  const missing = "missing" in part ? part.missing : `Landlock has no rules for TCP before version ${NETWORK_VERSION}`;
  const remedy = "missing" in part ? part.remedy : "Use Linux 6.7 or newer";
  const other = level === "strict" && "value" in landlock ? '"files" or "off"' : '"off"';
  const hint = `${remedy}; or set mcpServers.${id}.confine to ${other}`;
  throw new UpstreamError(
    unreachable(`it was not started, because confine "${level}" cannot be reached: ${layer}: ${missing}`, hint),
    id,
  );
}

/** npx asks a registry at each start and runs whatever version that answers with, so it never runs itself. */
async function replaceNpx({ id, locatePackage }: ConfinerOptions, command: ServerCommand): Promise<PlannedCommand> {
  if (basename(command.command) !== "npx") return command;
  if (!locatePackage) throw new GloveboxError("INTERNAL_BUG", `${id} has a package and nothing that installs it`);
  return { ...command, ...(await locatePackage(command)) };
}

/** With the folder of the installed package, if it has one. */
type PlannedCommand = ServerCommand & Partial<Pick<InstalledServer, "folder">>;

function planServer(options: ConfinerOptions, command: PlannedCommand): Plan {
  const { id, confine, environment, home } = options;
  const { cwd = "/" } = command;
  const path = command.env["PATH"] ?? environment["PATH"] ?? USUAL_PATH.join(delimiter);
  const file = findCommand(command.command, cwd, path);
  if (file === undefined) {
    const hint = `Check that ${command.command} is installed and on the PATH of the gateway`;
    throw new UpstreamError(unreachable(`command not found: ${command.command}`, hint), id);
  }
  const { args } = command;
  const named = options.listNamed();
  const { read, write } = collectGrants({ id, confine, named, program: file, args, cwd, home, path });
  const software = command.folder === undefined || read.includes(command.folder) ? [] : [command.folder];
  const granted = options.networkPolicy && "grants" in options.networkPolicy ? options.networkPolicy.grants : [];
  const unproxied = OWN_HOSTS.filter((own) => !granted.some(({ host }) => host === own)).join();
  const folders = [dirname(file), ...USUAL_PATH];
  const env = Object.fromEntries(
    Object.entries({ LANG: environment["LANG"], ...command.env }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  return {
    file,
    args,
    cwd,
    env,
    path: [...new Set(folders)].join(delimiter),
    unproxied,
    read: [...read, ...software],
    write,
  };
}

function isGranted(path: string, { read, write }: Grants): boolean {
  return isSystem(path) || [...read, ...write].some((grant) => isWithin(path, grant));
}

/** What the server wrote stays with the operator: a model gets this text. */
function explain(id: ConnectorId, stderr: readonly string[], isMissing: boolean): UpstreamFailure | undefined {
  if (stderr.some((line) => /^(?:bwrap|launcher): /.test(line))) {
    const hint = `\`glovebox servers\` shows why, \`glovebox doctor\` what this machine offers; or set mcpServers.${id}.confine to a lower level`;
    return unreachable("it could not be confined", hint);
  }
  if (!isMissing) return undefined;
  const hint = "`glovebox servers` names the files that it lacks and the setting that grants them";
  return { ...unreachable("the server ended", hint), kind: "crash" };
}

type Wall = Omit<ServerLaunch, "explainEnd" | "noteError" | "status">;

async function launchInNamespaces(plan: Plan, options: ConfinerOptions, machine: Machine): Promise<Wall> {
  const [namespaces, native] = [valueOf(machine.namespaces), valueOf(machine.native)];
  const filter = assembleUpstreamFilter(native.processor, { kind: "namespaces" });
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
    env: toEnvironment(plan, { home: HOME_AT, temporary: "/tmp", proxy: `http://127.0.0.1:${PROXY_PORT}` }),
    inputs: [filter, Buffer.from(users), Buffer.from(HOSTS)],
    onListener: (handle) => proxy.adopt(handle),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** The arguments of bubblewrap: a root of its own, with the software of the machine and what was granted. */
function wrap({ read, write }: Plan, namespaces: Namespaces, { launcher }: NativeParts): readonly string[] {
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
    "--proc",
    "/proc",
    "--dev",
    "/dev",
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
    "--remount-ro",
    "/",
  ];
}

/** A folder before those in it, which it would hide. */
function nestFirst(paths: readonly string[]): readonly string[] {
  return paths.toSorted((a, b) => a.length - b.length);
}

async function launchBehindLandlock(plan: Plan, options: ConfinerOptions, machine: Machine): Promise<Wall> {
  const [native, version] = [valueOf(machine.native), valueOf(machine.landlock)];
  const filter = assembleUpstreamFilter(native.processor, { kind: "landlock", version });
  const password = options.createPassword?.() ?? crypto.randomUUID();
  const proxy = openProxy(options, password);
  const port = await proxy.listen();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-server-")));
  const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
  for (const path of [home, temporary]) mkdirSync(path, { mode: 0o700 });
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
    }),
    inputs: [filter],
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openProxy({ id, egress, networkPolicy, onRequest }: ConfinerOptions, password?: string): ServerProxy {
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

/** Values are not in arguments, which other users can read. What the configuration sets takes precedence. */
function toEnvironment(
  { env, path, unproxied }: Plan,
  { home, temporary, proxy }: { readonly home: string; readonly temporary: string; readonly proxy: string },
): Readonly<Record<string, string>> {
  const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy] as const);
  return {
    HOME: home,
    TMPDIR: temporary,
    USER: "server",
    NODE_USE_ENV_PROXY: "1",
    NO_PROXY: unproxied,
    no_proxy: unproxied,
    ...Object.fromEntries(proxies),
    ...env,
    PATH: env["PATH"] ?? path,
  };
}

function valueOf<Value>(part: MachinePart<Value>): Value {
  if ("value" in part) return part.value;
  throw new GloveboxError("INTERNAL_BUG", `A level was chosen without a part of it: ${part.missing}`);
}
