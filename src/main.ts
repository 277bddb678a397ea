/**
 * The composition root. It and the files beside it are the only ones that build rooms and read the environment;
 * everything else is handed what it needs.
 */

import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

import { builtinSettings, findConfig, loadSettings, parseSettings } from "./config/index.ts";
import type { GloveboxConfig, Settings } from "./config/index.ts";
import type { EngineName } from "./domain/index.ts";
import type { ReplayResult } from "./execution/index.ts";
import { createLibrary, findDemoUpstreams, parseRecording } from "./surfaces/index.ts";
import type { CliPowers, Gateway, Glovebox } from "./surfaces/index.ts";
import { createPrincipal, mask, reportIncident } from "./host-powers.ts";
import { openDeskAlone } from "./open-approvals.ts";
import { openControlAlone, openHistoryAlone } from "./open-history.ts";
import { openLoginsAlone } from "./open-logins.ts";
import { openBrowser } from "./open-browser.ts";
import { VERSION, openGateway } from "./open-gateway.ts";
import type { OpenFlags } from "./open-gateway.ts";
import { replayAlone, replays } from "./open-replays.ts";
import { openHeldAlone, openReaderAlone, openVaultAlone, requestRestart } from "./open-records.ts";

export { defineConfig } from "./config/index.ts";
export { defineAdapter } from "./connectors/index.ts";
export type { GloveboxConfig } from "./config/index.ts";
export { GloveboxError } from "./domain/index.ts";
export type {
  Adapter,
  AdapterContext,
  ErrorCode,
  ExecutionResult,
  ExecutionView,
  Json,
  Limits,
  PublicError,
} from "./domain/index.ts";
export type { ReplayResult as Replayed } from "./execution/index.ts";
export type { Glovebox } from "./surfaces/index.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Opens Glovebox inside another program, from a configuration or the path of one. Close it when done. */
export async function createGlovebox(config: GloveboxConfig | string): Promise<Glovebox> {
  const settings =
    typeof config === "string"
      ? await findSettings(config)
      : parseSettings(config, { folder: process.cwd() }, process.env);
  return createLibrary(await openConfirmed(settings, { lasting: true }), createPrincipal("library", "service"));
}

/**
 * Shows an execution again from its export (the parsed JSON of `glovebox executions export`), without a store or any
 * upstream; with `code`, other code against the answers that were recorded.
 */
export async function replay(recording: unknown, options: ReplayOptions = {}): Promise<ReplayResult> {
  const settings = parseSettings({}, { folder: process.cwd() }, process.env);
  const { code, engine, signal = new AbortController().signal } = options;
  const request = { signal, ...(code !== undefined && { code }), ...(engine && { engine }) };
  return replayAlone(settings, parseRecording(recording), request);
}

export interface ReplayOptions {
  readonly code?: string;
  /** Left out, the engine that it ran on. */
  readonly engine?: EngineName;
  readonly signal?: AbortSignal;
}

/** The command line. Ends the process with the exit code of the command. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithLauncher();
  // An adapter may forget a promise that fails: an incident, and not the end of everybody's executions.
  process.on("unhandledRejection", reportIncident);
  const { createTerminal, runCli } = await import("./surfaces/cli/index.ts");
  const powers: CliPowers = {
    version: VERSION,
    nodeVersion: process.versions.node,
    terminal: createTerminal(process),
    webFolder: join(HERE, "web"),
    loadSettings: findSettings,
    openGateway: openConfirmed,
    openVault: openVaultAlone,
    openReader: openReaderAlone,
    openHeld: openHeldAlone,
    openDesk: openDeskAlone,
    openHistory: openHistoryAlone,
    openControl: openControlAlone,
    openLogins: openLoginsAlone,
    openBrowser,
    requestRestart,
    replays,
    report: reportIncident,
    now: Date.now,
    createToken,
  };
  const principal = createPrincipal("operator", "operator");
  process.exitCode = await runCli(argv, { powers, principal, agent: createPrincipal("local", "agent") });
  // Output may still be on its way to a pipe; everything else is closed by now.
  process.stdout.write("", () => process.exit());
}

/** The environment can confirm what a flag of the command line confirms, for those who have no command line. */
function openConfirmed(settings: Settings, flags: OpenFlags = {}): Promise<Gateway> {
  const isConfirmed = process.env["GLOVEBOX_UNRESTRICTED_NETWORK"] === "1";
  return openGateway(settings, isConfirmed ? { ...flags, unrestrictedNetwork: true } : flags);
}

/** Opens the admin API; whoever started this reads it once, and nobody else does. */
function createToken(): string {
  const token = randomBytes(24).toString("base64url");
  mask.add(token);
  return token;
}

/** An older Node starts us as its child; when that launcher is killed, nobody waits for us any more. */
function endWithLauncher(): void {
  const launcher = process.env["GLOVEBOX_LAUNCHER"];
  if (launcher === undefined) return;
  const endIfAlone = (): void => void (process.ppid === Number(launcher) || process.exit(1));
  endIfAlone(); // it may have been killed before we came to watch it
  setInterval(endIfAlone, 250).unref();
}

async function findSettings(explicit: string | undefined): Promise<Settings> {
  const cwd = process.cwd();
  const named = process.env["XDG_CONFIG_HOME"] ?? "";
  // The standard says that a relative or empty value counts as none.
  const configHome = isAbsolute(named) ? named : join(homedir(), ".config");
  const path = await findConfig({ cwd, userConfigFolder: join(configHome, "glovebox"), explicit });
  if (path !== undefined) return loadSettings(path, process.env);
  return builtinSettings(findDemoUpstreams(process.execPath, cwd), cwd);
}
