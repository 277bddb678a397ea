/** What the rest of the product reads: the configuration after every check, with every default filled in. */

import type {
  ConnectorId,
  Decision,
  EngineName,
  HostPort,
  LabelRule,
  Limits,
  NetworkPolicy,
  PinMode,
  PolicySettings,
  QuotaSettings,
  SecretGrants,
  SecretName,
  UpstreamNetwork,
} from "../domain/index.ts";

/** Where the settings came from, for messages and for the start-up line. */
export type SettingsOrigin =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "builtin" }
  | { readonly kind: "object" };

/** Text with secrets left out: `${secret:NAME}` stays a reference; the room that starts the upstream puts the value in. */
export type Template = readonly (string | { readonly secret: SecretName })[];

/** How to reach one upstream; paths are absolute and variables are filled in, secrets are not. */
export type UpstreamSettings =
  | {
      readonly transport: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, Template>>;
      readonly cwd: string;
      /** How long the server may take until it answers the handshake. */
      readonly startMs: number;
      readonly start: UpstreamStart;
    }
  | {
      readonly transport: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, Template>>;
      readonly oauth: OauthSettings;
      readonly network: UpstreamNetwork;
      readonly startMs: number;
      readonly start: UpstreamStart;
    };

/** How an operator logs in to an upstream. */
export interface OauthSettings {
  readonly clientId?: string;
  readonly clientSecret?: Template;
  readonly clientMetadataUrl?: string;
  /** Empty asks for what the server says it needs. */
  readonly scopes: readonly string[];
  /** Authorization servers that may lie in a private network. */
  readonly grants: readonly HostPort[];
}

/** An API that an OpenAPI document describes. */
export interface ApiSettings {
  readonly document: { readonly kind: "file"; readonly path: string } | { readonly kind: "url"; readonly url: string };
  /** `undefined` when the document says where the API is. */
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, Template>>;
  /** By the names that the document gives to its security schemes. */
  readonly auth: Readonly<Record<string, Template>>;
  /** Empty offers every operation. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly network: UpstreamNetwork;
  /** How long reading the document may take. */
  readonly startMs: number;
}

/** An adapter that is still to be checked, by the room that knows what one is. */
export interface AdapterSource {
  /** Where the configuration names it, for messages. */
  readonly place: string;
  /** The object itself, or all exports of the module that the configuration names. */
  readonly load: () => Promise<unknown>;
  /** `undefined` for the way of most upstreams. */
  readonly pin: PinMode | undefined;
  readonly network: UpstreamNetwork;
}

/** `eager` connects when the gateway opens, `lazy` when somebody first asks for tools or runs a program. */
export type UpstreamStart = "eager" | "lazy";

/** The severity an operator gives to a rule of the analysis. */
export type RuleSeverity = "error" | "warn" | "off";

/** One place that every record of the ledger is sent to. */
export type ExportSettings = {
  /** Names the place for good, such as `file:/var/log/ledger.jsonl`; how far the export has come is kept under it. */
  readonly id: string;
} & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "syslog"; readonly transport: "tcp" | "udp"; readonly host: string; readonly port: number }
  | { readonly kind: "otlp"; readonly url: string; readonly headers: Readonly<Record<string, Template>> }
);

/** The one settings object. Deeply frozen: a room may keep it, and nobody can change it behind its back. */
export interface Settings {
  readonly source: SettingsOrigin;
  /** Absolute; what relative paths are relative to. */
  readonly folder: string;
  /** In the order of the file; disabled servers are left out. */
  readonly upstreams: ReadonlyMap<ConnectorId, UpstreamSettings>;
  /** How tools are accepted that were never seen: of most upstreams, and of servers and APIs with a rule of their own. */
  readonly pins: { readonly usual: PinMode; readonly byServer: ReadonlyMap<ConnectorId, PinMode> };
  /** APIs by name; no name is also one of `upstreams`. */
  readonly apis: ReadonlyMap<ConnectorId, ApiSettings>;
  readonly adapters: readonly AdapterSource[];
  readonly sandbox: {
    readonly engine: EngineName;
    readonly isolation: "auto" | "strict" | "process";
    readonly concurrency: number;
    /** Executions that may wait for their turn; 0 refuses whatever cannot start at once. */
    readonly queue: number;
    readonly limits: Limits;
    /** Where programs may send requests; a request can ask for less, never for more. */
    readonly networkPolicy: NetworkPolicy;
    /** Secrets that programs may use without reading them. */
    readonly secrets: SecretGrants;
  };
  readonly egress: {
    /** The origin of an http proxy; `undefined` for none. */
    readonly proxy: string | undefined;
    readonly proxyLogin?: { readonly user: string; readonly password: Template };
    /** Holds for every request of the gateway; left out, what whoever sends it may reach. */
    readonly networkPolicy?: NetworkPolicy;
  };
  readonly analysis: {
    readonly enabled: boolean;
    readonly blockOnError: boolean;
    readonly types: RuleSeverity;
    /** Only what the operator changed; the analysis knows the severity of the other rules. */
    readonly rules: Readonly<Record<string, RuleSeverity>>;
  };
  /** `file` is absolute: more rules, which are read when the gateway opens and again when they change. */
  readonly policy: PolicySettings & {
    readonly file?: string;
    /** What the data-flow guard does. */
    readonly flows: Decision["kind"];
    readonly labels: readonly LabelRule[];
  };
  readonly quotas: QuotaSettings;
  readonly catalog: {
    /** Whether results teach which fields a tool returns. */
    readonly learn: boolean;
  };
  readonly audit: {
    /** Whether the ledger keeps the beginning of arguments and results. */
    readonly previews: boolean;
    readonly exports: readonly ExportSettings[];
  };
  /** Which records are dropped; without any limit, none. */
  readonly ledger: { readonly retention: { readonly days?: number; readonly records?: number } };
  readonly metrics: { readonly enabled: boolean };
  readonly traces: {
    readonly enabled: boolean;
    /** `undefined` for the environment's, or the usual one. */
    readonly endpoint: string | undefined;
    readonly headers: Readonly<Record<string, Template>>;
  };
  readonly anomalies: {
    readonly enabled: boolean;
    readonly webhook?: { readonly url: string; readonly secret: Template };
  };
  /** An absolute path, or `:memory:` for a store that ends with the process. */
  readonly store: { readonly path: string };
  /** What MCP clients see: programs over tools, the tools themselves, or both. */
  readonly expose: "code" | "tools" | "both";
  /** How long an MCP client is kept waiting for an execution before it is told to ask again. */
  readonly clients: { readonly patienceMs: number };
  /** Whether HTML is escaped in texts for MCP clients. */
  readonly output: { readonly escapeHtml: boolean };
  /** How long large results are kept, and how many bytes of them in all. */
  readonly results: { readonly keepMs: number; readonly totalBytes: number };
  /** How long a call waits for a person, and how long its program waits with it. */
  readonly approvals: {
    readonly expiryMs: number;
    readonly graceMs: number;
    /** Whether what MCP clients say that people said decides. */
    readonly elicitation: boolean;
  };
  /** How long what entered programs is kept, and how much of it. */
  readonly journal: { readonly keepMs: number; readonly totalBytes: number; readonly executionBytes: number };
  /** Always a loopback host; port 0 takes any free port. */
  readonly server: { readonly host: string; readonly port: number };
}
