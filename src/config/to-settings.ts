/** Builds the frozen settings from a configuration that passed all checks. */

import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { GloveboxError, defined, parseConnectorId, parsePrincipalId } from "../domain/index.ts";
import type {
  ApiSettings,
  ConnectorId,
  ExportSettings,
  PrincipalId,
  SecretTemplate,
  ServerSettings,
  UpstreamSettings,
} from "../domain/index.ts";
import { expandText } from "./expand-references.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { isHttpUrl, isMemoryLocation, toSqliteLocation } from "./formats.ts";
import { toNetworkPolicy, toUpstreamNetwork } from "./schema/network-schema.ts";
import { toOauth } from "./schema/oauth-schema.ts";
import { configSchema } from "./schema/schema.ts";
import { toSecretGrants } from "./schema/secrets-schema.ts";
import type { CheckedAdapter, CheckedApi, CheckedConfig, CheckedExport, CheckedServer } from "./schema/schema.ts";
import { toRule } from "./to-rules.ts";
import type { Settings, SettingsOrigin } from "./settings.ts";

interface SettingsContext {
  readonly source: SettingsOrigin;
  readonly folder: string;
  readonly environment: EnvironmentVariables;
  /** Adapters that are objects in the configuration, by index. */
  readonly objects?: ReadonlyMap<number, object>;
}

/** Returns the settings without a configuration: all defaults, and the built-in upstreams. */
export function builtinSettings(upstreams: ReadonlyMap<ConnectorId, ServerSettings>, folder: string): Settings {
  const settings = toSettings(configSchema.parse({}), { source: { kind: "builtin" }, folder, environment: {} });
  return deepFreeze({ ...settings, upstreams: new Map(upstreams) });
}

/** `folder` must be absolute: a relative one would change its meaning with the working directory. */
export function toSettings(config: CheckedConfig, context: SettingsContext): Settings {
  if (!isAbsolute(context.folder)) throw new TypeError("The folder of the settings must be an absolute path");
  const location = toSqliteLocation(config.store.url);
  const { engine, isolation, concurrency, queue, limits } = config.sandbox;
  return deepFreeze({
    source: context.source,
    folder: context.folder,
    upstreams: toUpstreams(config.mcpServers, context),
    pins: { usual: config.pin, byServer: toPins({ ...config.mcpServers, ...config.openapi }) },
    apis: new Map(Object.entries(config.openapi).map(([name, api]) => [toId(name), toApi(name, api, context)])),
    adapters: config.adapters.map((entry, index) => toAdapterSource(entry, index, context)),
    sandbox: {
      engine,
      isolation,
      concurrency,
      queue,
      limits,
      networkPolicy: toNetworkPolicy(config.sandbox.networkPolicy),
      secrets: toSecretGrants(config.sandbox.secrets),
    },
    egress: toEgress(config.egress, context.environment),
    analysis: { ...config.analysis, rules: toPresent(config.analysis.rules) },
    policy: toPolicy(config.policy, context.folder),
    quotas: { ...config.quotas, prices: new Map(Object.entries(config.quotas.prices)) },
    catalog: config.catalog,
    audit: { previews: config.audit.previews, exports: config.audit.export.map((entry) => toExport(entry, context)) },
    ledger: { retention: toPresent(config.ledger.retention) },
    metrics: config.metrics,
    traces: toTraces(config.traces, context.environment),
    anomalies: toAnomalies(config.anomalies, context.environment),
    store: { path: isMemoryLocation(location) ? location : resolve(context.folder, location) },
    expose: config.expose,
    clients: config.clients,
    output: config.output,
    results: config.results,
    approvals: config.approvals,
    journal: config.journal,
    server: config.server,
  });
}

function toUpstreams(servers: CheckedConfig["mcpServers"], context: SettingsContext): Map<ConnectorId, ServerSettings> {
  const upstreams = new Map<ConnectorId, ServerSettings>();
  for (const [name, server] of Object.entries(servers)) {
    upstreams.set(toId(name), toUpstream(name, server, context));
  }
  return upstreams;
}

function toPins(
  servers: Readonly<Record<string, { readonly pin?: UpstreamSettings["pins"]["usual"] | undefined }>>,
): Map<ConnectorId, UpstreamSettings["pins"]["usual"]> {
  const pins = new Map<ConnectorId, UpstreamSettings["pins"]["usual"]>();
  for (const [name, { pin }] of Object.entries(servers)) {
    const id = parseConnectorId(name);
    if (id !== undefined && pin !== undefined) pins.set(id, pin);
  }
  return pins;
}

function toId(name: string): ConnectorId {
  const id = parseConnectorId(name);
  if (id === undefined) throw new GloveboxError("INTERNAL_BUG", "The name of an upstream was not checked");
  return id;
}

function toEgress(egress: CheckedConfig["egress"], environment: EnvironmentVariables): Settings["egress"] {
  const { proxy, proxyUser: user, proxyPassword, networkPolicy } = egress;
  const password = proxyPassword === undefined ? undefined : expandText(proxyPassword, environment).parts;
  return {
    proxy,
    ...defined({
      proxyLogin: user !== undefined && password ? { user, password } : undefined,
      networkPolicy: networkPolicy && toNetworkPolicy(networkPolicy, "egress.networkPolicy"),
    }),
  };
}

function toApi(name: string, api: CheckedApi, { folder, environment }: SettingsContext): ApiSettings {
  const { document, baseUrl, headers = {}, auth = {}, include = [], exclude = [] } = api;
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
  { kind, path = "", url = "", headers = {} }: CheckedExport,
  context: SettingsContext,
): ExportSettings {
  switch (kind) {
    case "file":
      return { kind, id: `file:${resolve(context.folder, path)}`, path: resolve(context.folder, path) };
    case "syslog": {
      const { protocol, hostname, port } = new URL(url);
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const transport = protocol === "udp:" ? "udp" : "tcp";
      return { kind, id: `syslog:${url}`, transport, host, port: Number(port) };
    }
    case "otlp":
      return { kind, id: `otlp:${url}`, url, headers: toTemplates(headers, context.environment) };
    default:
      return kind satisfies never;
  }
}

/** Passes an adapter object behind a function, so that it is not frozen with the settings. */
function toAdapterSource(
  entry: CheckedAdapter,
  index: number,
  { folder, objects }: SettingsContext,
): UpstreamSettings["adapters"][number] {
  const place = `adapters[${index}]`;
  const { module, ...more }: Exclude<CheckedAdapter, string> = typeof entry === "string" ? { module: entry } : entry;
  const own = { place, pin: more.pin, network: toUpstreamNetwork(more, place) };
  const object = objects?.get(index);
  if (object !== undefined) return { ...own, load: async () => object };
  return { ...own, load: () => import(pathToFileURL(resolve(folder, module)).href) };
}

function toUpstream(name: string, server: CheckedServer, context: SettingsContext): ServerSettings {
  const { command, url, args = [], env = {}, headers = {}, cwd = "." } = server;
  const { start, startupTimeoutMs: startMs } = server;
  if (command !== undefined) {
    const environment = toTemplates(env, context.environment);
    return { transport: "stdio", command, args, env: environment, cwd: resolve(context.folder, cwd), startMs, start };
  }
  if (url === undefined) throw new GloveboxError("INTERNAL_BUG", "An upstream without command and url was not refused");
  const transport = server.type === "sse" ? "sse" : "http";
  const { clientSecret } = server.oauth;
  const secret = clientSecret === undefined ? undefined : expandText(clientSecret, context.environment).parts;
  const oauth = toOauth(server.oauth, secret);
  const network = toUpstreamNetwork({ networkPolicy: server.networkPolicy }, `mcpServers.${name}`);
  return { transport, url, headers: toTemplates(headers, context.environment), oauth, network, startMs, start };
}

/** Problems were reported before, so all references are valid here. */
function toTemplates(
  texts: Readonly<Record<string, string>>,
  environment: EnvironmentVariables,
): Record<string, SecretTemplate> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expandText(text, environment).parts]));
}

const FLOWS = { balanced: "ask", strict: "deny", open: "allow" } as const;

function toPolicy(policy: CheckedConfig["policy"], folder: string): Settings["policy"] {
  const { profile, rules, file, groups, effects, flows, labels } = policy;
  return {
    profile,
    rules: rules.map((rule, index) => toRule(rule, index, "configuration")),
    groups: new Map(Object.entries(groups).map(([group, members]) => [group, members.map(toPrincipal)])),
    effects: new Map(Object.entries(effects)),
    flows: flows ?? FLOWS[profile],
    labels: labels.map(({ tools, add = [], remove = [] }) => ({ tools, add, remove })),
    ...defined({ file: file === undefined ? undefined : resolve(folder, file) }),
  };
}

function toTraces(traces: CheckedConfig["traces"], environment: EnvironmentVariables): Settings["traces"] {
  const { enabled, endpoint, headers = {} } = traces;
  return { enabled, endpoint, headers: toTemplates(headers, environment) };
}

function toAnomalies(
  { enabled, webhook }: CheckedConfig["anomalies"],
  environment: EnvironmentVariables,
): Settings["anomalies"] {
  if (!webhook) return { enabled };
  const { url, secret } = webhook;
  return { enabled, webhook: { url, secret: expandText(secret, environment).parts } };
}

function toPrincipal(name: string): PrincipalId {
  const id = parsePrincipalId(name);
  if (id === undefined) throw new GloveboxError("INTERNAL_BUG", "A member of a group was not checked");
  return id;
}

function toPresent<Value>(values: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  const present: Record<string, Value> = {};
  for (const [key, value] of Object.entries(values)) if (value !== undefined) present[key] = value;
  return present;
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
