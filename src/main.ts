/** The composition root: this file and the three beside it are the only ones that build rooms and read the environment. */

import { homedir } from "node:os";
import { dirname } from "node:path";

import { createConfigs, parseSettings } from "./config/index.ts";
import type { GloveboxConfig, Settings } from "./config/index.ts";
import { defined } from "./domain/index.ts";
import type { EngineName } from "./domain/index.ts";
import { toRecordingFile } from "./execution/index.ts";
import type { ReplayResult } from "./execution/index.ts";
import { LOCAL, OPERATOR } from "./identity/index.ts";
import { endWithLauncher } from "./processes/index.ts";
import { createLibrary, findDemoUpstreams, parseRecording } from "./surfaces/index.ts";
import type { CliPowers, Glovebox, OpenGateway } from "./surfaces/index.ts";
import { VERSION, createHostPowers } from "./host-powers.ts";
import type { HostPowers } from "./host-powers.ts";
import { openGateway, replayRecording } from "./open-gateway.ts";
import type { GatewayOptions } from "./open-gateway.ts";
import { openOperatorRecords, readRecords } from "./open-records.ts";

export { defineConfig } from "./config/index.ts";
export { defineAdapter } from "./connectors/index.ts";
export type { GloveboxConfig } from "./config/index.ts";
export { GloveboxError } from "./domain/index.ts";
export type { Adapter, AdapterContext, Approval, ErrorCode, ExecutionResult } from "./domain/index.ts";
export type { ExecutionEvent, ExecutionView, Json, Limits, PublicError } from "./domain/index.ts";
export type { ReplayResult as Replayed } from "./execution/index.ts";
export type { Glovebox, LibraryEvent, LibraryRequest, McpFetchHandler } from "./surfaces/index.ts";

/** Opens Glovebox inside another program, from a configuration or the path of one. Close it when done. */
export async function createGlovebox(config: GloveboxConfig | string): Promise<Glovebox> {
  const host = createHostPowers();
  const configs = findConfigs(host);
  const settings = typeof config === "string" ? await configs.loadSettings(config) : configs.parseObject(config);
  return createLibrary(await openConfirmed(settings, { lasting: true, host }), host.report);
}

/**
 * Shows an execution again from its export (the parsed JSON of `glovebox executions export`), without a store or any
 * upstream; with `code`, runs other code against the answers that were recorded.
 */
export async function replay(recording: unknown, options: ReplayOptions = {}): Promise<ReplayResult> {
  const settings = parseSettings({}, { folder: process.cwd() }, process.env);
  const request = { signal: new AbortController().signal, ...defined({ ...options }) };
  return replayRecording(settings, parseRecording(recording), request, createHostPowers());
}

export interface ReplayOptions {
  readonly code?: string;
  /** By default the engine that it ran on. */
  readonly engine?: EngineName;
  readonly signal?: AbortSignal;
}

/** The command line. Ends the process with the exit code of the command. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithLauncher(process.env["GLOVEBOX_LAUNCHER"], { parent: () => process.ppid, exit: () => process.exit(1) });
  const host = createHostPowers();
  // An adapter may leave a promise that fails: an incident, and not the end of every execution.
  process.on("unhandledRejection", host.report);
  const { createTerminal, openBrowser, runCli } = await import("./surfaces/cli/index.ts");
  const powers: CliPowers = {
    version: VERSION,
    nodeVersion: process.versions.node,
    terminal: createTerminal(process),
    packageFolder: dirname(import.meta.dirname),
    ...findConfigs(host),
    openHome: (home) => findConfigs(host, home),
    openGateway: (settings, options) => openConfirmed(settings, { ...options, host }),
    openRecords: (settings) => openOperatorRecords(settings, host),
    readRecords: (settings) => readRecords(settings, host),
    showReplay: (settings, kept, request) => replayRecording(settings, kept, request, host),
    toRecordingFile: (kept) => toRecordingFile(kept, { version: VERSION, hide: host.mask.hide }),
    loadServers: () => import("./surfaces/serve.ts"),
    openBrowser,
    ...host,
    now: Date.now,
    uid: process.getuid?.(),
  };
  process.exitCode = await runCli(argv, { powers, principal: OPERATOR, agent: LOCAL });
  // Output may still be on its way to a pipe; everything else is closed by now.
  process.stdout.write("", () => process.exit());
}

/** The environment can confirm what a flag of the command line confirms, for programs without a command line. */
function openConfirmed(settings: Settings, options: GatewayOptions): Promise<OpenGateway> {
  const isConfirmed = process.env["GLOVEBOX_UNRESTRICTED_NETWORK"] === "1";
  return openGateway(settings, isConfirmed ? { ...options, unrestrictedNetwork: true } : options);
}

function findConfigs({ warn }: Pick<HostPowers, "warn">, otherHome?: string) {
  const homes = { configHome: process.env["XDG_CONFIG_HOME"], stateHome: process.env["XDG_STATE_HOME"] };
  const place = otherHome === undefined ? { home: homedir(), ...homes } : { home: otherHome };
  const user = { cwd: process.cwd(), uid: process.getuid?.(), ...place };
  const findUpstreams = (cwd: string) => findDemoUpstreams(process.execPath, cwd);
  return createConfigs({ ...user, environment: process.env, findUpstreams, warn });
}
