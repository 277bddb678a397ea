/** What the rest of the product reads: the configuration after every check, with every default filled in. */

import type {
  Decision,
  EngineName,
  ExportSettings,
  LabelRule,
  Limits,
  NetworkPolicy,
  PolicySettings,
  QuotaSettings,
  SecretGrants,
  SecretTemplate,
  UpstreamSettings,
} from "../domain/index.ts";

/** Where the settings came from, for messages and for the start-up line. */
export type SettingsOrigin =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "builtin" }
  | { readonly kind: "object" };

/** The severity an operator gives to a rule of the analysis. */
export type RuleSeverity = "error" | "warn" | "off";

/** The one settings object. Deeply frozen: a room may keep it, and nobody can change it behind its back. */
export interface Settings extends UpstreamSettings {
  readonly source: SettingsOrigin;
  /** Absolute; what relative paths are relative to. */
  readonly folder: string;
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
    readonly proxyLogin?: { readonly user: string; readonly password: SecretTemplate };
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
    readonly headers: Readonly<Record<string, SecretTemplate>>;
  };
  readonly anomalies: {
    readonly enabled: boolean;
    readonly webhook?: { readonly url: string; readonly secret: SecretTemplate };
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
