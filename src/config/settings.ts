/** The settings of the product: the configuration after all checks, with all defaults. */

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

/** Where the settings come from, for messages and the startup line. */
export type SettingsOrigin =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "builtin" }
  | { readonly kind: "object" };

/** The severity of an analysis rule, set by the operator. */
export type RuleSeverity = "error" | "warn" | "off";

/** The settings object. It is deeply frozen, so a room can keep it. */
export interface Settings extends UpstreamSettings {
  readonly source: SettingsOrigin;
  /** The absolute folder that relative paths start from. */
  readonly folder: string;
  readonly sandbox: {
    readonly engine: EngineName;
    readonly isolation: "auto" | "strict" | "process";
    readonly concurrency: number;
    /** Executions that may wait; 0 refuses an execution that cannot start immediately. */
    readonly queue: number;
    readonly limits: Limits;
    /** Where programs may send requests; a request can only narrow it. */
    readonly networkPolicy: NetworkPolicy;
    /** Secrets that programs may use without reading them. */
    readonly secrets: SecretGrants;
  };
  readonly egress: {
    /** The origin of an http proxy; `undefined` for none. */
    readonly proxy: string | undefined;
    readonly proxyLogin?: { readonly user: string; readonly password: SecretTemplate };
    /** Applies to every request of the gateway, in addition to the sender's policy. */
    readonly networkPolicy?: NetworkPolicy;
  };
  readonly analysis: {
    readonly enabled: boolean;
    readonly blockOnError: boolean;
    readonly types: RuleSeverity;
    /** Only changed rules; analysis has the default severity of the others. */
    readonly rules: Readonly<Record<string, RuleSeverity>>;
  };
  /** `file` is the absolute path of more rules, read when the gateway opens and again when they change. */
  readonly policy: PolicySettings & {
    readonly file?: string;
    /** The decision of the data-flow guard. */
    readonly flows: Decision["kind"];
    readonly labels: readonly LabelRule[];
  };
  readonly quotas: QuotaSettings;
  readonly catalog: {
    /** True to learn result types from results. */
    readonly learn: boolean;
  };
  readonly audit: {
    /** True to keep the beginning of arguments and results in the ledger. */
    readonly previews: boolean;
    readonly exports: readonly ExportSettings[];
  };
  /** Which records are deleted; none without a limit. */
  readonly ledger: { readonly retention: { readonly days?: number; readonly records?: number } };
  readonly metrics: { readonly enabled: boolean };
  readonly traces: {
    readonly enabled: boolean;
    /** `undefined` for the endpoint of the environment, or the default. */
    readonly endpoint: string | undefined;
    readonly headers: Readonly<Record<string, SecretTemplate>>;
  };
  readonly anomalies: {
    readonly enabled: boolean;
    readonly webhook?: { readonly url: string; readonly secret: SecretTemplate };
  };
  /** An absolute path, or `:memory:` for a store that ends with the process. */
  readonly store: { readonly path: string };
  /** What MCP clients see: `search`, `describe` and `execute`, the upstream tools, or both. */
  readonly expose: "code" | "tools" | "both";
  /** How long an MCP client waits for an execution before it gets the state `running`. */
  readonly clients: { readonly patienceMs: number };
  /** True to escape HTML for MCP clients. */
  readonly output: { readonly escapeHtml: boolean };
  /** How long large results are kept, and their total size. */
  readonly results: { readonly keepMs: number; readonly totalBytes: number };
  /** How long a call waits for approval, and how long its program stays in memory. */
  readonly approvals: {
    readonly expiryMs: number;
    readonly graceMs: number;
    /** True to accept decisions through MCP clients. */
    readonly elicitation: boolean;
  };
  /** How long journals are kept, and their size. */
  readonly journal: { readonly keepMs: number; readonly totalBytes: number; readonly executionBytes: number };
  /** Always a loopback host; port 0 chooses a free port. */
  readonly server: { readonly host: string; readonly port: number };
}
