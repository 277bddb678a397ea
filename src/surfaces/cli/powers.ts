/** The powers of the command line; it has no others. */

import type { Readable, Writable } from "node:stream";

import type { ConfigText, Settings, createConfigs } from "../../config/index.ts";
import type { ExecutionResult, Instant, JsonObject, Principal } from "../../domain/index.ts";
import type { KeptExecution, ReplayResult, showReplay } from "../../execution/index.ts";
import type { HttpDoor, McpDoor, OpenGateway } from "../gateway.ts";
import type { OperatorRecords, StoredRecords } from "../operator-records.ts";

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Starts this program again: the command, and its first argument. */
  readonly start: readonly [command: string, script: string];
  /** Calls back at the first Ctrl-C or request to end; a second one ends the process at once. */
  onInterrupt(listener: () => void): () => void;
}

/** What the commands `serve` and `mcp` start. */
export interface Servers {
  serveHttp(
    options: HttpDoor & {
      readonly server: Settings["server"];
      readonly storePath: string;
      readonly uid: number | undefined;
      readonly warn: (thrown: unknown) => void;
    },
  ): Promise<{
    readonly url: string;
    readonly pageUrl: string;
    readonly openTo: string | undefined;
    close(): Promise<void>;
  }>;
  /** Resolves when the client ends the connection. */
  serveMcpOverStdio(door: McpDoor, streams: { readonly input: Readable; readonly output: Writable }): Promise<void>;
}

/** Files of a user, and the configuration among them. */
export type UserFiles = Pick<ReturnType<typeof createConfigs>, "user" | "readPlanned" | "checkServer" | "giveConsent">;

export interface CliPowers {
  readonly version: string;
  readonly terminal: Terminal;
  /** The folder of this package, which holds `examples/` and the built admin page. */
  readonly packageFolder: string;
  /**
   * The settings of the named file, of the one that is found, or the built-in ones. A file that is found in a project
   * needs consent, which `confirm` can give.
   */
  loadSettings(explicit: string | undefined, confirm?: (config: ConfigText) => Promise<boolean>): Promise<Settings>;
  /** The same for commands that start nothing: needs no consent, and runs no code without it. */
  readSettings(explicit: string | undefined): Promise<Settings>;
  /** The same for commands that need no rules: works with an invalid policy, of which it warns. */
  readWithoutPolicy(explicit: string | undefined): Promise<Settings>;
  /** Finds a configuration, shows it, and records consent to it. */
  giveConsent(path: string | undefined, show: (config: ConfigText) => void): Promise<ConfigText>;
  /** The settings of a configuration that is not in a file. */
  parseObject(config: unknown): Settings;
  /** The files of this user, or of the one with this home folder. */
  openHome(home: string | undefined): UserFiles;
  /** `unrestrictedNetwork` confirms a configuration that gives programs the whole network. */
  openGateway(
    settings: Settings,
    flags?: {
      readonly unrestrictedNetwork?: boolean;
      readonly lasting?: boolean;
      readonly runsPrograms?: boolean;
    },
  ): Promise<OpenGateway>;
  openRecords(settings: Settings): Promise<OperatorRecords>;
  /** Rejects if the store does not exist. */
  readRecords(settings: Settings): Promise<StoredRecords>;
  /** Loaded on demand: every other command starts faster without them. */
  loadServers(): Promise<Servers>;
  openBrowser(url: URL): void;
  /** Opens a sandbox and nothing else. */
  showReplay(settings: Settings, kept: KeptExecution, request: Parameters<typeof showReplay>[1]): Promise<ReplayResult>;
  /** Returns an export that needs nothing else, without known secrets. */
  toRecordingFile(kept: KeptExecution): JsonObject;
  /** The user of this process; `undefined` where users have no numbers. */
  readonly uid: number | undefined;
  /** Tells the operator what to correct, while the command continues. */
  readonly warn: (thrown: unknown) => void;
  readonly nodeVersion: string;
  readonly now: () => Instant;
  /** Writes an internal fault to the log and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
}

/** What every command is passed. */
export interface CommandContext {
  readonly powers: CliPowers;
  /** The person at the terminal. */
  readonly principal: Principal;
  /** The principal of MCP clients of a server that this person started. */
  readonly agent: Principal;
}

/** How every command ends; `docs/reference/command-line.md` explains the codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, paused: 3, refused: 4, interrupted: 130 } as const;

/** The exit code after one program. */
export function exitOf({ state, error }: Pick<ExecutionResult, "state" | "error">): number {
  if (state === "completed") return EXIT.done;
  if (state === "paused") return EXIT.paused;
  return error && (error.code.startsWith("POLICY_") || error.code === "EGRESS_DENIED") ? EXIT.refused : EXIT.failed;
}

/** The terminal of a process. The first signal starts the shutdown; a second Ctrl-C ends the process at once. */
export function createTerminal(owner: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr } = owner;
  return {
    stdin,
    stdout,
    stderr,
    cwd: owner.cwd(),
    platform: owner.platform,
    start: [owner.execPath, owner.argv[1] ?? ""],
    onInterrupt(listener) {
      const first = (): void => {
        owner.once("SIGINT", () => owner.exit(EXIT.interrupted));
        owner.on("SIGTERM", () => undefined); // the shutdown is already in progress
        listener();
      };
      owner.once("SIGINT", first);
      owner.once("SIGTERM", first);
      return () => {
        owner.removeListener("SIGINT", first);
        owner.removeListener("SIGTERM", first);
      };
    },
  };
}

/** A signal that fires at the first interrupt. Disposing it stops listening. */
export function watchInterrupt(terminal: Terminal): Disposable & { readonly signal: AbortSignal } {
  const abort = new AbortController();
  return { signal: abort.signal, [Symbol.dispose]: terminal.onInterrupt(() => abort.abort()) };
}
