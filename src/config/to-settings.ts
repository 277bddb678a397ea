/** Builds the frozen settings from a configuration that passed all checks. */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { GloveboxError, defined, parseConnectorId, parsePrincipalId, parseSecretName } from "../domain/index.ts";
import type {
  ApiSettings,
  ConnectorId,
  ExportSettings,
  SecretTemplate,
  ServerSettings,
  UpstreamSettings,
} from "../domain/index.ts";
import { HOUR_MS } from "../timing/index.ts";
import { expandText } from "./expand-references.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { SQLITE_MEMORY, isHttpUrl, isLoopbackHost, toDefaultStore, toSqliteLocation } from "./formats.ts";
import { toRule } from "./schema/check-rules.ts";
import { toNetworkPolicy, toUpstreamNetwork } from "./schema/network-schema.ts";
import { configSchema } from "./schema/schema.ts";
import type { CheckedConfig } from "./schema/schema.ts";
import { readAll, readHostPort, readSecretHost } from "./schema/values/host-pattern.ts";
import type { Settings } from "./settings.ts";

interface SettingsContext extends Pick<Settings, "source" | "folder"> {
  readonly environment: EnvironmentVariables;
  /** Adapters that are objects in the configuration, by index. */
  readonly objects?: ReadonlyMap<number, object>;
  readonly state?: ConfigState | undefined;
}

/** Where a configuration without `store.url` has its store. Without a state folder it is in memory. */
export interface ConfigState {
  readonly folder: string;
  /** Of the configuration file, if any, without links. */
  readonly realPath?: string;
  /** True if the configuration did not take effect. It may name the store that is the former default. */
  readonly isWithheld?: boolean;
}

/** The default store of earlier versions, relative to the folder of the configuration. */
const FORMER_STORE = ".glovebox/glovebox.db";

/** Returns the settings without a configuration: all defaults, and the built-in upstreams. */
export function builtinSettings(
  upstreams: ReadonlyMap<ConnectorId, ServerSettings>,
  folder: string,
  state?: ConfigState,
): Settings {
  const settings = toSettings(configSchema.parse({}), { source: { kind: "builtin" }, folder, environment: {}, state });
  return deepFreeze({ ...settings, upstreams: new Map(upstreams) });
}

/** `folder` must be absolute: a relative one would change its meaning with the working directory. */
export function toSettings(config: CheckedConfig, context: SettingsContext): Settings {
  if (!isAbsolute(context.folder)) throw new TypeError("The folder of the settings must be an absolute path");
  const { folder, environment } = context;
  const { $schema: _, mcpServers, pin, openapi, adapters, sandbox, egress, analysis, ...others } = config;
  const { policy, quotas, profiles, audit, ledger, traces, anomalies, approvals, store, skills, ...plain } = others;
  const { webhook } = anomalies;
  const { url, ...rest } = store;
  const place = toStorePlace(url, context);
  return deepFreeze({
    ...plain,
    source: context.source,
    folder,
    upstreams: mapEntries(mcpServers, toId, (server, name) => toUpstream(name, server, context)),
    lenient: toLenient({ ...mcpServers, ...openapi }),
    pins: { usual: pin, byServer: toPins({ ...mcpServers, ...openapi }) },
    apis: mapEntries(openapi, toId, (api, name) => toApi(name, api, context)),
    adapters: adapters.map((entry, index) => toAdapterSource(entry, index, context)),
    sandbox: {
      ...sandbox,
      networkPolicy: toNetworkPolicy(sandbox.networkPolicy),
      secrets: mapEntries(sandbox.secrets, toSecretName, ({ hosts, in: places, principals = [] }) => ({
        hosts: readAll(readSecretHost, hosts),
        places: [...new Set(places)],
        principals,
      })),
    },
    egress: toEgress(egress, environment),
    analysis: { ...analysis, rules: defined(analysis.rules) },
    policy: toPolicy(policy, folder),
    quotas: { ...quotas, prices: new Map(Object.entries(quotas.prices)) },
    profiles: mapEntries(profiles, String, (profile) => defined(profile)),
    audit: { previews: audit.previews, exports: audit.export.map((entry) => toExport(entry, context)) },
    ledger: { retention: defined(ledger.retention) },
    traces: { enabled: traces.enabled, endpoint: traces.endpoint, headers: toTemplates(traces.headers, environment) },
    approvals: { ...approvals, notify: toNotify(approvals.notify, environment) },
    anomalies: {
      enabled: anomalies.enabled,
      ...defined({ webhook: webhook && { url: webhook.url, secret: expandText(webhook.secret, environment).parts } }),
    },
    store: { ...rest, ...place },
    skills: {
      ...defined({ folder: toSkillFolder(skills.folder, { folder, place, isDefault: url === undefined }) }),
      overMcp: skills.overMcp,
    },
    server: toServer(plain.server, context),
  });
}

/** Beside a store that a configuration names, there can be other things. */
function toSkillFolder(
  named: string | undefined,
  {
    folder,
    place,
    isDefault,
  }: { readonly folder: string; readonly place: { path: string }; readonly isDefault: boolean },
): string | undefined {
  if (named !== undefined) return resolve(folder, named);
  if (place.path === SQLITE_MEMORY) return undefined;
  return isDefault ? join(dirname(place.path), "skills") : `${place.path}.skills`;
}

/** Logins are required where other machines can connect, whatever the configuration says. */
function toServer(
  { tls, oidc, ...server }: CheckedConfig["server"],
  { folder, environment }: SettingsContext,
): Settings["server"] {
  const hosts = [server.host, ...(server.publicUrl === undefined ? [] : [hostOf(server.publicUrl)])];
  const auth = hosts.every(isLoopbackHost) ? server.auth : "required";
  const files = tls && { cert: resolve(folder, tls.cert), key: resolve(folder, tls.key) };
  const providers = mapEntries(oidc, String, ({ clientSecret, ...provider }) => ({
    ...provider,
    ...defined({ clientSecret: toTemplate(clientSecret, environment) }),
  }));
  return { ...server, auth, oidc: providers, ...defined({ tls: files }) };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}

function toStorePlace(
  url: string | undefined,
  { folder, state }: SettingsContext,
): Omit<Settings["store"], "durability" | "minFreeBytes"> {
  const shared = defined({ stateFolder: state?.folder });
  if (url !== undefined) return { path: toSqliteLocation(url, folder), ...shared };
  if (!state) return { path: SQLITE_MEMORY };
  const { realPath, isWithheld = false } = state;
  const path = toDefaultStore(state.folder, realPath ?? folder, realPath !== undefined);
  return { path, ...shared, ...defined({ former: isWithheld ? undefined : resolve(folder, FORMER_STORE) }) };
}

function mapEntries<Key, Entry, Value>(
  entries: Readonly<Record<string, Entry>>,
  toKey: (name: string) => Key,
  toValue: (entry: Entry, name: string) => Value,
): Map<Key, Value> {
  return new Map(Object.entries(entries).map(([name, entry]) => [toKey(name), toValue(entry, name)]));
}

function toLenient(
  servers: Readonly<Record<string, { readonly validate: "error" | "warn" }>>,
): ReadonlySet<ConnectorId> {
  return new Set(Object.entries(servers).flatMap(([name, { validate }]) => (validate === "warn" ? [toId(name)] : [])));
}

function toPins(
  servers: Readonly<Record<string, { readonly pin?: UpstreamSettings["pins"]["usual"] | undefined }>>,
): UpstreamSettings["pins"]["byServer"] {
  return new Map(Object.entries(servers).flatMap(([name, { pin }]) => (pin ? [[toId(name), pin]] : [])));
}

const toId = (name: string): ConnectorId => parseConnectorId(name) ?? unchecked("the name of an upstream");
const toPrincipal = (name: string) => parsePrincipalId(name) ?? unchecked("a member of a group");
const toSecretName = (name: string) => parseSecretName(name) ?? unchecked("the name of a granted secret");

function unchecked(what: string): never {
  throw new GloveboxError("INTERNAL_BUG", `${what} was not checked`);
}

function toEgress(egress: CheckedConfig["egress"], environment: EnvironmentVariables): Settings["egress"] {
  const { proxy, proxyUser: user, proxyPassword, networkPolicy } = egress;
  const password = toTemplate(proxyPassword, environment);
  return {
    proxy,
    ...defined({
      proxyLogin: user !== undefined && password ? { user, password } : undefined,
      networkPolicy: networkPolicy && toNetworkPolicy(networkPolicy, "egress.networkPolicy"),
    }),
  };
}

function toApi(
  name: string,
  { document, baseUrl, headers, auth, include = [], exclude = [], ...api }: CheckedConfig["openapi"][string],
  { folder, environment }: SettingsContext,
): ApiSettings {
  return {
    document: isHttpUrl(document) ? { kind: "url", url: document } : { kind: "file", path: resolve(folder, document) },
    baseUrl,
    headers: toTemplates(headers, environment),
    auth: toTemplates(auth, environment),
    include,
    exclude,
    network: toUpstreamNetwork(api, `openapi.${name}`),
    startMs: api.startupTimeoutMs,
  };
}

/** `checkRelations` has checked which keys belong to which kind. */
function toExport(
  { kind, path = "", url = "", headers }: CheckedConfig["audit"]["export"][number],
  { folder, environment }: SettingsContext,
): ExportSettings {
  switch (kind) {
    case "file":
      return { kind, id: `file:${resolve(folder, path)}`, path: resolve(folder, path) };
    case "syslog": {
      const { protocol, hostname, port } = new URL(url);
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const transport = protocol === "udp:" ? "udp" : "tcp";
      return { kind, id: `syslog:${url}`, transport, host, port: Number(port) };
    }
    case "otlp":
      return { kind, id: `otlp:${url}`, url, headers: toTemplates(headers, environment) };
    default:
      return kind satisfies never;
  }
}

/** Passes an adapter object behind a function, so that it is not frozen with the settings. */
function toAdapterSource(
  entry: CheckedConfig["adapters"][number],
  index: number,
  { folder, objects }: SettingsContext,
): UpstreamSettings["adapters"][number] {
  const place = `adapters[${index}]`;
  const { module, pin, ...network }: Exclude<typeof entry, string> =
    typeof entry === "string" ? { module: entry } : entry;
  const object = objects?.get(index);
  const load = async (): Promise<unknown> => object ?? import(pathToFileURL(resolve(folder, module)).href);
  return { place, pin, network: toUpstreamNetwork(network, place), load };
}

function toUpstream(
  name: string,
  {
    command,
    url,
    args = [],
    cwd,
    files = {},
    start,
    startupTimeoutMs: startMs,
    ...server
  }: CheckedConfig["mcpServers"][string],
  { folder, environment }: SettingsContext,
): ServerSettings {
  if (command !== undefined) {
    const env = toTemplates(server.env, environment);
    const named = { "files.read": files.read, "files.write": files.write, cwd: cwd === undefined ? [] : [cwd] };
    const folders = Object.entries(named).flatMap(([key, paths = []]) =>
      paths.map((path) => ({ key, path: resolve(folder, path) })),
    );
    const place = {
      cwd: resolve(folder, cwd ?? "."),
      ...defined({ folders: folders.length > 0 ? folders : undefined }),
    };
    const confine = toConfine(server, files, folder);
    const policy = server.networkPolicy && toNetworkPolicy(server.networkPolicy, `mcpServers.${name}.networkPolicy`);
    return {
      transport: "stdio",
      command,
      args,
      env,
      ...place,
      startMs,
      start,
      ...defined({ confine, networkPolicy: policy }),
    };
  }
  if (url === undefined) throw new GloveboxError("INTERNAL_BUG", "An upstream without command and url was not refused");
  return {
    transport: server.type === "sse" ? "sse" : "http",
    url,
    headers: toTemplates(server.headers, environment),
    oauth: defined({
      ...server.oauth,
      clientSecret: toTemplate(server.oauth.clientSecret, environment),
      grants: readAll(readHostPort, server.oauth.grants),
    }),
    network: toUpstreamNetwork({ networkPolicy: server.networkPolicy }, `mcpServers.${name}`),
    startMs,
    start,
  };
}

function toConfine(
  {
    confine,
    limits = {},
    installScripts,
  }: Pick<CheckedConfig["mcpServers"][string], "confine" | "limits" | "installScripts">,
  { read, write }: NonNullable<CheckedConfig["mcpServers"][string]["files"]>,
  folder: string,
): Extract<ServerSettings, { transport: "stdio" }>["confine"] {
  if (confine === undefined || confine === "off") return confine;
  const resolveAll = (paths: readonly string[] = []): readonly string[] => paths.map((path) => resolve(folder, path));
  const files = read || write ? { read: resolveAll(read), write: resolveAll(write) } : undefined;
  return { level: confine, limits, ...defined({ files, installScripts }) };
}

/** Problems were reported before, so all references are valid here. */
function toTemplate(text: string | undefined, environment: EnvironmentVariables): SecretTemplate | undefined {
  return text === undefined ? undefined : expandText(text, environment).parts;
}

function toTemplates(
  texts: Readonly<Record<string, string>> = {},
  environment: EnvironmentVariables,
): Record<string, SecretTemplate> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expandText(text, environment).parts]));
}

function toNotify(
  { desktop, webhook }: CheckedConfig["approvals"]["notify"],
  environment: EnvironmentVariables,
): Settings["approvals"]["notify"] {
  if (!webhook) return { desktop };
  const { url, format, secret } = webhook;
  return { desktop, webhook: { url, format, ...defined({ secret: toTemplate(secret, environment) }) } };
}

const FLOWS = { balanced: "ask", strict: "deny", open: "allow" } as const;

function toPolicy(policy: CheckedConfig["policy"], folder: string): Settings["policy"] {
  const { profile, rules, file, groups, effects, flows = FLOWS[profile], labels, labelHours } = policy;
  return {
    profile,
    rules: rules.map((rule, index) => toRule(rule, index, "configuration")),
    groups: mapEntries(groups, String, (members) => members.map(toPrincipal)),
    effects: new Map(Object.entries(effects)),
    flows,
    labels: labels.map(({ tools, add = [], remove = [] }) => ({ tools, add, remove })),
    labelMs: labelHours * HOUR_MS,
    ...defined({ file: file === undefined ? undefined : resolve(folder, file) }),
  };
}

/** Freezes a tree of plain values, including maps, which `Object.freeze` does not protect. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const method of ["set", "delete", "clear"]) Object.defineProperty(value, method, { value: refuseChange });
  }
  const children: unknown[] = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const child of children) deepFreeze(child);
  return Object.freeze(value);
}

function refuseChange(): never {
  throw new TypeError("Settings are frozen");
}
