/** How to reach one upstream. Secrets come in late, through functions, so that settings can be shown and logged. */

import type { ServerSettings, UpstreamNetwork, UpstreamStatus } from "../domain/index.ts";
import type { Secret } from "../vault/index.ts";

import type { UpstreamFailure } from "./upstream-error.ts";

/** The access token of one upstream's login. */
export interface TokenSource {
  /** Returns `undefined` without a login, or when it has expired. */
  current(): Promise<Secret | undefined>;
  /** Called after the server refused `stale`. Returns another token, or `undefined` when there is none. */
  renew(stale: Secret): Promise<Secret | undefined>;
  /** Drops the cached login; the next use reads it from the vault. */
  forget(): void;
}

/** Environment variables or headers, with their secrets filled in. */
export type ResolvedFields = Readonly<Record<string, string>>;

/** A server with `command` as it is configured. */
export type CommandSettings = Extract<ServerSettings, { transport: "stdio" }>;
export type ConfineRequest = Exclude<NonNullable<CommandSettings["confine"]>, "off">;
/** A path, and the key of the settings that names it. */
export type NamedPlace = NonNullable<CommandSettings["folders"]>[number];
/** How a server is confined, and what it was refused lately. */
export type ConfinementReport = NonNullable<UpstreamStatus["confinement"]>;

/** A command as the configuration names it, with the variables that the server gets. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command that runs a server from its installed package. */
export interface InstalledServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Everything that was installed with it. */
  readonly folder: string;
}

/** A process to start in place of a server, which confines itself and becomes the server. */
export interface ServerLaunch extends AsyncDisposable {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Written to the descriptors from 4 on. */
  readonly inputs: readonly Buffer[];
  /** Called with the listening socket that the process passes over descriptor 3, a channel of Node. */
  readonly onListener?: (handle: unknown) => void;
  /** What the lines on standard error tell about the confinement after the process has ended; most often nothing. */
  readonly explainEnd: (stderr: readonly string[]) => UpstreamFailure | undefined;
  /** Called with texts of errors that the server returned. */
  readonly noteError: (text: string) => void;
  readonly status: () => ConfinementReport;
}

/** A server that is started as a child process and speaks over its standard streams. */
export interface StdioSettings {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The variables that the configuration sets for this server, secrets resolved. Called at every start. */
  readonly resolveEnv: () => Promise<ResolvedFields>;
  /** Confines the server. Called at every start; throws if the configured level cannot be reached. */
  readonly confine?: (command: ServerCommand) => Promise<ServerLaunch>;
  /** The configured level, for a server that has not been started. */
  readonly level?: ConfinementReport["level"];
  /** From the start of the process to the first list of tools. */
  readonly startMs: number;
  /** Limit for one message of the server; a larger one ends the connection. */
  readonly messageBytes?: number;
}

/** A server at a URL: Streamable HTTP, or the HTTP+SSE transport of 2024-11-05. */
export interface HttpSettings {
  readonly kind: "http" | "sse";
  readonly url: string;
  /** Headers for every request, secrets resolved. Called at every connect. */
  readonly resolveHeaders: () => Promise<ResolvedFields>;
  /** Tokens of a login. An authorization header in the configuration takes precedence. */
  readonly tokens?: TokenSource;
  /** Where its requests and their redirects may go. Default: its own origin. */
  readonly network?: UpstreamNetwork;
  /** From the first request to the first list of tools. */
  readonly startMs: number;
  /** Limit for one response, or for one event of a stream that stays open; a larger one fails its call. */
  readonly messageBytes?: number;
}

export type ConnectionSettings = StdioSettings | HttpSettings;

/** Enough for any result that the bridge accepts, and small enough that one line cannot exhaust the memory. */
export const DEFAULT_MESSAGE_BYTES = 64 * 1024 * 1024;
