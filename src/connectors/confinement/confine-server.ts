/**
 * Starts a server behind walls: in namespaces of its own with bubblewrap, or with Landlock alone. Both put the launcher
 * in front of the server, which filters its system calls. Its only way to the network is a proxy of the gateway.
 */

import { basename, delimiter, dirname } from "node:path";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import type { ProxiedRequest } from "../../egress/index.ts";

import type { ConfineRequest, ConfinementReport, InstalledServer, NamedPlace } from "../settings.ts";
import type { ServerCommand, ServerLaunch } from "../settings.ts";
import { UpstreamError, unreachable } from "../upstream-error.ts";
import type { UpstreamFailure } from "../upstream-error.ts";
import { findMissing } from "./find-missing.ts";
import { collectGrants, findCommand, findWritable, isGranted } from "./grants.ts";
import { launchBehindLandlock, launchInNamespaces } from "./launch.ts";
import type { LaunchOptions, Plan } from "./launch.ts";
import { knowsLateProxy } from "./late-proxy.ts";
import type { Machine, MachinePart } from "./machine.ts";

const USUAL_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];
/** Version 4 of Landlock, of Linux 6.7, knows TCP ports. */
const NETWORK_VERSION = 4;
const MOST_SHOWN = 20;
/** Not through the proxy, unless the operator grants one of them. */
const OWN_HOSTS = ["localhost", "127.0.0.1", "::1"];

export interface ConfinerOptions extends LaunchOptions {
  readonly confine: ConfineRequest;
  readonly machine: () => Promise<Machine>;
  /** The paths that the arguments and the working folder of this server name. */
  readonly listNamed: () => readonly NamedPlace[];
  /** Installs the package that the command would start with npx, if it is not yet, and returns what runs it. */
  readonly locatePackage?: (command: ServerCommand) => Promise<InstalledServer>;
  readonly home: string;
  /** The gateway's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
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
    const plan = await planServer(options, await replaceNpx(options, command));
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

async function planServer(options: ConfinerOptions, command: PlannedCommand): Promise<Plan> {
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
    // It is asked outside of every confinement.
    loadsProxyLate: findWritable(file, write) === undefined && (await knowsLateProxy(file)),
    read: [...read, ...software],
    write,
  };
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
