/** Upstreams: their state as people and models read it, and how the operator declared them and exports. */

import type { ConnectorId, Instant, SecretName } from "./ids.ts";
import type { HostPort, NetworkPolicy, UpstreamNetwork } from "./network.ts";
import type { PinMode } from "./tool.ts";

export interface UpstreamStatus {
  readonly name: ConnectorId;
  /** `failed` is retried automatically, `suspended` crashed too often and waits for an operator. */
  readonly state: "idle" | "connecting" | "ready" | "failed" | "needs-login" | "suspended" | "closed";
  readonly transport: "stdio" | "http" | "sse" | "openapi" | "adapter";
  /** The MCP revision negotiated at the last connect, such as `2025-11-25` or `2026-07-28`. */
  readonly era?: string;
  readonly tools: number;
  readonly since: Instant;
  /** The number of withheld tools; absent if there are none. */
  readonly withheld?: number;
  /** What failed; with `hint`, present after a failure until the server is ready again. */
  readonly cause?: string;
  readonly hint?: string;
  /** What an operator may want to know about its tools; absent if nothing was found. */
  readonly findings?: readonly string[];
  /** The last lines that a child process wrote to stderr, cleaned. */
  readonly stderr?: readonly string[];
  /** Of a child process; absent if it is not confined. For operators: a model does not get it. */
  readonly confinement?: ConfinementStatus;
}

/** How a child server is confined, and what it was refused lately. */
interface ConfinementStatus {
  readonly level: "files" | "strict";
  /** As `host:port`, latest last; absent if there are none. */
  readonly refusedHosts?: readonly string[];
  /** Files that its own errors name and that its confinement does not include; absent if there are none. */
  readonly missingFiles?: readonly string[];
}

/** The confinement of one child server as it is configured. Paths are absolute. */
interface ConfineSettings {
  /** `best` is the strictest level that this machine offers. */
  readonly level: "files" | "strict" | "best";
  /** `undefined`: what the arguments and the working folder name, to read and write. */
  readonly files?: { readonly read: readonly string[]; readonly write: readonly string[] };
  readonly limits: ServerLimits;
  /** For a server with npx: its package and those that it needs may run their install scripts, unconfined. */
  readonly installScripts?: boolean;
}

/** Limits of each process of a confined server, except for `processes`. */
interface ServerLimits {
  readonly memoryBytes?: number | undefined;
  readonly processes?: number | undefined;
  readonly openFiles?: number | undefined;
}

/** A string whose secrets are still references: `${secret:NAME}` is resolved when the upstream starts. */
export type SecretTemplate = readonly (string | { readonly secret: SecretName })[];

export interface UpstreamSettings {
  /** MCP servers in the order of the file, without disabled ones. */
  readonly upstreams: ReadonlyMap<ConnectorId, ServerSettings>;
  /** APIs by name; no name is also one of `upstreams`. */
  readonly apis: ReadonlyMap<ConnectorId, ApiSettings>;
  readonly adapters: readonly AdapterSource[];
  /** How tools are accepted that were never seen: the default, and what one server or API sets for itself. */
  readonly pins: { readonly usual: PinMode; readonly byServer: ReadonlyMap<ConnectorId, PinMode> };
  /** Servers and APIs whose results are passed on with a finding if they do not match their schema. */
  readonly lenient: ReadonlySet<ConnectorId>;
}

/** A path, and the key of a server's settings that names it, such as `args[2]`. */
interface NamedFolder {
  readonly key: string;
  readonly path: string;
}

/** How to reach one MCP server. Paths are absolute and environment variables are expanded; secrets are not. */
export type ServerSettings = {
  /** Time limit from the start of the process or connection to its answer to the handshake. */
  readonly startMs: number;
  /** `eager` connects when the gateway opens, `lazy` at the first request for tools or the first program. */
  readonly start: "eager" | "lazy";
} & (
  | {
      readonly transport: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, SecretTemplate>>;
      readonly cwd: string;
      /** Folders that the configuration names outside of `args`, each with its key. */
      readonly folders?: readonly NamedFolder[];
      /** `"off"` was written; `undefined` is the default, which is off, too. */
      readonly confine?: ConfineSettings | "off";
      /** For a confined server: where its requests may go. Default: nowhere. */
      readonly networkPolicy?: NetworkPolicy;
    }
  | {
      readonly transport: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, SecretTemplate>>;
      readonly oauth: OauthSettings;
      readonly network: UpstreamNetwork;
    }
);

export interface OauthSettings {
  readonly clientId?: string;
  readonly clientSecret?: SecretTemplate;
  readonly clientMetadataUrl?: string;
  /** Empty requests the scopes that the server announces. */
  readonly scopes: readonly string[];
  /** Authorization servers that may be in a private network. */
  readonly grants: readonly HostPort[];
}

export interface ApiSettings {
  readonly document: { readonly kind: "file"; readonly path: string } | { readonly kind: "url"; readonly url: string };
  /** `undefined` if the document names the server. */
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, SecretTemplate>>;
  /** By the names of the document's security schemes. */
  readonly auth: Readonly<Record<string, SecretTemplate>>;
  /** Empty offers every operation. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly network: UpstreamNetwork;
  readonly startMs: number;
}

/** An adapter that `connectors` still has to check. */
export interface AdapterSource {
  /** Where the configuration names it, for messages. */
  readonly place: string;
  /** Returns the object itself, or all exports of the module that the configuration names. */
  readonly load: () => Promise<unknown>;
  readonly pin: PinMode | undefined;
  readonly network: UpstreamNetwork;
}

export type ExportSettings = {
  /** Permanent name of the destination, such as `file:/var/log/ledger.jsonl`. The export's progress is stored under it. */
  readonly id: string;
} & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "syslog"; readonly transport: "tcp" | "udp"; readonly host: string; readonly port: number }
  | { readonly kind: "otlp"; readonly url: string; readonly headers: Readonly<Record<string, SecretTemplate>> }
);
