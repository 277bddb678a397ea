/** Creates a connector for every upstream of the settings, with the secrets and files that it needs and no others. */

import { homedir } from "node:os";

import { defined } from "../domain/index.ts";
import type { ApiSettings, ConnectorId, SecretName, ServerSettings, UpstreamSettings } from "../domain/index.ts";
import { cleanText } from "../text/index.ts";
import type { createPathMask } from "../text/index.ts";
import { findInApi, findInServer } from "../vault/index.ts";
import type { Secret, Vault } from "../vault/index.ts";

import { createAdapterConnector } from "./adapter/adapter-connector.ts";
import { parseAdapters } from "./adapter/parse-adapters.ts";
import { createConfiner } from "./confinement/confine-server.ts";
import { examineMachine } from "./confinement/machine.ts";
import { createBorrowingUpstream } from "./create-borrowing-upstream.ts";
import type { BorrowingOptions, SecretLender, UpstreamEntry } from "./create-borrowing-upstream.ts";
import { createLoginFetch } from "./login/login-fetch.ts";
import { createLoginStore } from "./login/login-store.ts";
import type { LoginStoreOptions } from "./login/login-store.ts";
import { createTokenSource } from "./login/token-source.ts";
import { createMcpConnector } from "./mcp/mcp-connector.ts";
import type { McpConnectorOptions } from "./mcp/mcp-connector.ts";
import { openPackages } from "./packages/open-packages.ts";
import type { PackagePowers, Packages } from "./packages/open-packages.ts";
import { createOpenapiConnector } from "./openapi/openapi-connector.ts";
import type { OpenapiConnectorOptions } from "./openapi/openapi-connector.ts";
import { resolveTemplates } from "./resolve-templates.ts";
import type { CommandSettings, NamedPlace, StdioSettings } from "./settings.ts";

const MAX_TEXT_BYTES = 64 * 1024;
const MAX_CAUSE_BYTES = 500;

interface UpstreamsOptions
  extends
    Omit<BorrowingOptions, "cleanCause" | "lenient" | "paths" | "record" | "vault">,
    Pick<McpConnectorOptions, "keeper" | "egress" | "environment" | "now">,
    Pick<LoginStoreOptions, "values" | "holdLease"> {
  readonly settings: UpstreamSettings;
  readonly watchFamily: NonNullable<McpConnectorOptions["watchFamily"]>;
  readonly vault: Vault;
  readonly paths: ReturnType<typeof createPathMask>;
  readonly readDocument: OpenapiConnectorOptions["readFile"];
  /** Returns the paths that the settings of a server name. Throws if it must not start. */
  readonly checkReach: (id: ConnectorId, server: ServerSettings) => readonly NamedPlace[];
  /** Writes an entry to the ledger. */
  readonly write: (entry: UpstreamEntry) => Promise<unknown>;
  /** Of servers that start with npx. */
  readonly packages: Pick<PackagePowers, "folder" | "record">;
}

type Opened = Omit<UpstreamsOptions, "packages"> & { readonly packages: Packages };

/** Starts nothing. The caller closes the connectors. */
export async function createUpstreams(given: UpstreamsOptions) {
  const packages = openPackages({ ...given, ...given.packages, pins: given.settings.pins });
  const options: Opened = { ...given, packages };
  const { settings, keeper, watchFamily, egress, environment, now, values, mask } = options;
  const { upstreams, apis } = settings;
  const clean = (text: string, maxBytes: number): string =>
    cleanText(text, { maxBytes, paths: options.paths.own, addresses: true, hide: mask.hide });
  const shared = {
    keeper,
    watchFamily,
    egress,
    environment,
    now,
    values,
    clean: (text: string) => clean(text, MAX_TEXT_BYTES),
  };
  const cleanCause = (text: string): string => clean(text, MAX_CAUSE_BYTES);
  const loans = { ...options, record: toRecord(options), lenient: settings.lenient, cleanCause };
  const adapters = await parseAdapters(settings.adapters, [...upstreams.keys(), ...apis.keys()]);
  const { usual, byServer } = settings.pins;
  const borrowers = [
    ...[...upstreams].map(([id, server]) =>
      createBorrowingUpstream(loans, findInServer(server), (lender, onState) =>
        createMcpConnector({ ...shared, id, onState, settings: toConnectionSettings(id, server, options, lender) }),
      ),
    ),
    ...[...apis].map(([id, api]) =>
      createBorrowingUpstream(loans, findInApi(api), (lender, onState) => {
        const { readDocument: readFile } = options;
        return createOpenapiConnector({ ...shared, id, onState, settings: toApiSettings(id, api, lender), readFile });
      }),
    ),
  ];
  // An adapter is lent a secret at each call, so it never holds an old one.
  const adapterBorrowers = [...adapters].map(([id, { adapter, network }]) =>
    createBorrowingUpstream(loans, [], (lender) => {
      const lend = (name: SecretName): Promise<Secret> => lender.lend(name, `upstream ${id}`);
      return createAdapterConnector({ ...shared, id, adapter, network, lend });
    }),
  );
  const connectors = [...borrowers, ...adapterBorrowers].map(({ connector }) => connector);
  return {
    connectors,
    /** Those that keep secrets that they were lent, and must be restarted when one changes. */
    borrowers,
    /** How tools that were never seen are accepted. */
    pinModeOf: (id: ConnectorId) => adapters.get(id)?.pin ?? byServer.get(id) ?? usual,
    /** Connects to every eager upstream at once without waiting. The catalog shares these attempts. */
    startEager(): void {
      const eager = connectors.filter(({ id }) => upstreams.get(id)?.start === "eager");
      // A failure is in the upstream's state.
      for (const connector of eager) connector.tools().catch(() => undefined);
    },
  };
}

/** Secrets are lent when an upstream starts, to that upstream alone. */
function toConnectionSettings(
  id: ConnectorId,
  server: ServerSettings,
  options: Opened,
  lender: SecretLender,
): McpConnectorOptions["settings"] {
  const { egress, values, vault, holdLease, now, checkReach } = options;
  const purpose = `upstream ${id}`;
  if (server.transport === "stdio") {
    const { command, args, cwd, env, startMs } = server;
    const resolveEnv: StdioSettings["resolveEnv"] = async () => {
      checkReach(id, server); // at every start, because links and folders change
      return resolveTemplates(env, lender, purpose);
    };
    return { kind: "stdio", command, args, cwd, startMs, resolveEnv, ...toConfinement(id, server, options) };
  }
  const { transport: kind, url, headers, network, startMs, oauth } = server;
  const fetch = createLoginFetch({ egress, url, grants: oauth.grants });
  const logins = createLoginStore({ values, vault, holdLease, onToken: lender.remember });
  const tokens = createTokenSource({ id, url, logins, fetch, now });
  return { kind, url, startMs, network, tokens, resolveHeaders: () => resolveTemplates(headers, lender, purpose) };
}

function toConfinement(
  id: ConnectorId,
  server: CommandSettings,
  options: Opened,
): Pick<StdioSettings, "confine" | "level"> {
  const { confine, networkPolicy } = server;
  if (confine === undefined || confine === "off") return {};
  const { egress, environment, write, packages } = options;
  const confiner = createConfiner({
    id,
    confine,
    networkPolicy,
    machine: findMachine,
    home: homedir(),
    egress,
    environment,
    listNamed: () => options.checkReach(id, server),
    locatePackage: (command) => packages.locate({ id, command, scripts: confine.installScripts === true }),
    onRequest: async ({ host, port, refusal }) => {
      const action = refusal ? "upstream.request.refused" : "upstream.request";
      await write({
        actor: "gateway",
        action,
        subject: id,
        detail: { host, port, ...defined({ why: refusal?.message }) },
      });
    },
  });
  return { confine: confiner, ...defined({ level: confine.level === "best" ? undefined : confine.level }) };
}

let machine: ReturnType<typeof examineMachine> | undefined;

/** It does not change while this process runs. */
export function findMachine(): ReturnType<typeof examineMachine> {
  return (machine ??= examineMachine());
}

/** For entries that no caller waits for. */
function toRecord({ write }: Pick<UpstreamsOptions, "write">): BorrowingOptions["record"] {
  return (entry) => void write(entry).catch(() => undefined);
}

/** As for MCP servers, secrets are lent when the document is read. */
function toApiSettings(id: ConnectorId, api: ApiSettings, lender: SecretLender): OpenapiConnectorOptions["settings"] {
  const { headers, auth, ...rest } = api;
  const resolve = (templates: ApiSettings["auth"]) => () => resolveTemplates(templates, lender, `upstream ${id}`);
  const holdsSecret = (name: string): boolean => headers[name]?.some((part) => typeof part !== "string") ?? false;
  const secretHeaders = Object.keys(headers).filter(holdsSecret);
  return { ...rest, resolveHeaders: resolve(headers), resolveAuth: resolve(auth), secretHeaders };
}
