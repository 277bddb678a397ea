/** The settings of the product: the configuration after all checks, with all defaults. */

import type {
  Decision,
  ExportSettings,
  LabelRule,
  NetworkPolicy,
  PolicySettings,
  QuotaSettings,
  SecretGrants,
  SecretTemplate,
  UpstreamSettings,
} from "../domain/index.ts";
import type { CheckedConfig, DeepReadonly } from "./schema/schema.ts";

type RuleSeverity = CheckedConfig["analysis"]["types"];

/** Sections whose settings are the values of the configuration; the schema describes them. */
type PlainSettings = DeepReadonly<
  Pick<CheckedConfig, "catalog" | "clients" | "executions" | "expose" | "journal" | "metrics" | "output" | "results">
>;

type CheckedProfile = DeepReadonly<CheckedConfig["profiles"][string]>;
type ProfileSettings = { readonly [Key in keyof CheckedProfile]: Exclude<CheckedProfile[Key], undefined> };

type CheckedProvider = DeepReadonly<CheckedConfig["server"]["oidc"][string]>;
type LoginProvider = Omit<CheckedProvider, "clientSecret"> & { readonly clientSecret?: SecretTemplate };

/** The settings object. It is deeply frozen, so a room can keep it. */
export interface Settings extends UpstreamSettings, PlainSettings {
  /** Where the settings come from, for messages and the startup line. */
  readonly source:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "builtin" }
    | { readonly kind: "object" };
  readonly folder: string;
  readonly server: DeepReadonly<Omit<CheckedConfig["server"], "oidc">> & {
    /** Where people log in, by name. */
    readonly oidc: ReadonlyMap<string, LoginProvider>;
  };
  readonly sandbox: Readonly<Omit<CheckedConfig["sandbox"], "networkPolicy" | "secrets">> & {
    /** Where programs may send requests; a request can only narrow it. */
    readonly networkPolicy: NetworkPolicy;
    readonly secrets: SecretGrants;
  };
  readonly egress: {
    /** The origin of an http proxy; `undefined` for none. */
    readonly proxy: string | undefined;
    readonly proxyLogin?: { readonly user: string; readonly password: SecretTemplate };
    /** Applies to every request of the gateway, in addition to the sender's policy. */
    readonly networkPolicy?: NetworkPolicy;
  };
  readonly analysis: Readonly<Omit<CheckedConfig["analysis"], "rules">> & {
    /** Only changed rules; analysis has the default severity of the others. */
    readonly rules: Readonly<Record<string, RuleSeverity>>;
  };
  /** `file` is the absolute path of more rules, read when the gateway opens and again when they change. */
  readonly policy: PolicySettings & {
    readonly file?: string;
    readonly flows: Decision["kind"];
    readonly labels: readonly LabelRule[];
    /** How long new sessions of a principal inherit its labels. */
    readonly labelMs: number;
  };
  readonly quotas: QuotaSettings;
  /** What access tokens with a profile can reach, by its name. */
  readonly profiles: ReadonlyMap<string, ProfileSettings>;
  readonly audit: { readonly previews: boolean; readonly exports: readonly ExportSettings[] };
  /** Which records are deleted; none without a limit. */
  readonly ledger: { readonly retention: { readonly days?: number; readonly records?: number } };
  readonly traces: {
    readonly enabled: boolean;
    /** `undefined` for the endpoint of the environment, or the default. */
    readonly endpoint: string | undefined;
    readonly headers: Readonly<Record<string, SecretTemplate>>;
  };
  readonly approvals: DeepReadonly<Omit<CheckedConfig["approvals"], "notify">> & {
    /** Who is told that a call waits. */
    readonly notify: {
      readonly desktop: boolean;
      readonly webhook?: {
        readonly url: string;
        readonly secret?: SecretTemplate;
        readonly format: "json" | "slack";
      };
    };
  };
  /** `folder` is absolute; absent for a store in memory. */
  readonly skills: { readonly folder?: string; readonly overMcp: boolean };
  readonly anomalies: {
    readonly enabled: boolean;
    readonly webhook?: { readonly url: string; readonly secret: SecretTemplate };
  };
  /** `path` is absolute, or `:memory:` for a store that ends with the process. */
  readonly store: {
    readonly path: string;
    readonly minFreeBytes: number;
    readonly durability: "default" | "always";
    /** The folder in which Glovebox keeps stores, keys and consents of this user. */
    readonly stateFolder?: string;
    /** Where earlier versions had this store. It is moved to `path` when it is opened. */
    readonly former?: string;
  };
}
