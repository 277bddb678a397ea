/** Builds a connector for every upstream of the settings, with the secrets and files that it needs and no others. */

import type { Ledger } from "./ledger/index.ts";
import { readTextFile } from "./config/index.ts";
import type { Settings } from "./config/index.ts";
import type { ApiSettings, ServerSettings } from "./domain/index.ts";
import {
  createAdapterConnector,
  createLoanBook,
  createMcpConnector,
  createOpenapiConnector,
  hideSecrets,
  parseAdapters,
  parseVerdictText,
  toVerdictText,
} from "./connectors/index.ts";
import type {
  Borrower,
  Connector,
  EraVerdicts,
  McpConnectorOptions,
  OpenapiConnectorOptions,
} from "./connectors/index.ts";
import type { ChildKeeper, ConnectorId, PinMode, SecretName, UpstreamStatus } from "./domain/index.ts";
import type { ServerPlace } from "./policy/index.ts";
import type { Egress } from "./egress/index.ts";
import { watchFamily } from "./processes/index.ts";
import type { Store } from "./store/index.ts";
import { createMask } from "./vault/index.ts";
import type { Secret, Vault } from "./vault/index.ts";
import { fillTexts } from "./fill-texts.ts";
import { findWritten, findWrittenInApi } from "./find-written.ts";
import { cleanCause, cleanServerText, mask } from "./host-powers.ts";
import { createTokens } from "./keep-logins.ts";

export interface UpstreamParts {
  readonly keeper: ChildKeeper;
  readonly egress: Egress;
  readonly store: Store;
  readonly vault: Vault;
  readonly ledger: Pick<Ledger, "write">;
}

/** All upstreams, and how tools of each are accepted that were never seen. */
export interface Upstreams {
  readonly connectors: readonly Connector[];
  /** Those that keep what they were lent, and have to be restarted when that changes. */
  readonly borrowers: readonly Borrower[];
  readonly pinModeOf: (id: ConnectorId) => PinMode;
}

/** Nothing is started. The caller closes them. */
export async function createUpstreams(settings: Settings, parts: UpstreamParts): Promise<Upstreams> {
  const { keeper, egress, store } = parts;
  const verdicts = createVerdicts(store);
  const shared = {
    keeper,
    watchFamily,
    egress,
    verdicts,
    now: Date.now,
    environment: process.env,
    clean: cleanServerText,
  };
  const adapters = await parseAdapters(settings.adapters, [...settings.upstreams.keys(), ...settings.apis.keys()]);
  const { usual, byServer } = settings.pins;
  const pinModeOf = (id: ConnectorId): PinMode => adapters.get(id)?.pin ?? byServer.get(id) ?? usual;
  const borrowers = [
    ...[...settings.upstreams].map(([id, upstream]) =>
      withoutSecrets(parts, findWritten(upstream), (lender, onState) =>
        createMcpConnector({
          ...shared,
          id,
          onState,
          settings: toConnectorSettings(id, upstream, { ...parts, lender }),
        }),
      ),
    ),
    ...[...settings.apis].map(([id, api]) =>
      withoutSecrets(parts, findWrittenInApi(api), (lender, onState) =>
        createOpenapiConnector({
          ...shared,
          id,
          onState,
          settings: toApiSettings(id, api, lender),
          readFile: readDocument,
        }),
      ),
    ),
  ];
  // An adapter asks for a secret at each call, and so has nothing old.
  const askers = [...adapters].map(([id, { adapter, network }]) =>
    withoutSecrets(parts, [], (lender) => {
      const lend = (name: SecretName): Promise<Secret> => lender.lend(name, `upstream ${id}`);
      return createAdapterConnector({ ...shared, id, adapter, network, lend });
    }),
  );
  return { connectors: [...borrowers, ...askers].map(({ connector }) => connector), borrowers, pinModeOf };
}

interface Lender extends Pick<Vault, "lend"> {
  /** For what reaches an upstream on another way. */
  readonly remember: (secret: Secret) => void;
}

/** An upstream says little but its own, so that also short secrets of its own can be told from ordinary words. */
const SHORTEST_OWN = 4;

/**
 * What an upstream was lent, or has `written` in its settings, is remembered as long as the upstream, to be taken out of
 * everything that it says; what anybody was lent is, too.
 */
function withoutSecrets(
  { vault, ledger }: UpstreamParts,
  written: readonly string[],
  create: (lender: Lender, onState: (state: UpstreamStatus["state"]) => void) => Connector,
): Borrower {
  const own = createMask({ shortest: SHORTEST_OWN });
  for (const credential of written) {
    own.add(credential);
    mask.add(credential);
  }
  const loans = createLoanBook(vault);
  const remember = (secret: Secret): void => {
    own.add(secret.reveal());
    mask.add(secret.reveal());
  };
  const lend: Vault["lend"] = async (name, purpose) => {
    const secret = await loans.lend(name, purpose);
    remember(secret);
    return secret;
  };
  const onState = (state: UpstreamStatus["state"]): void => {
    if (state === "connecting") loans.clear();
    recordState(ledger, state, () => connector.status());
  };
  const hide = (text: string): string => mask.hide(own.hide(text));
  const connector: Connector = hideSecrets(create({ lend, remember }, onState), { hide, hideOwn: own.hide });
  return { connector, loans };
}

/** What the ledger is told about an upstream, by the state that it has entered. */
const CHANGES: Readonly<Partial<Record<UpstreamStatus["state"], string>>> = {
  ready: "upstream.connected",
  failed: "upstream.failed",
  suspended: "upstream.suspended",
};

/** Nothing waits for it: an upstream comes and goes whether or not that can be written down. */
function recordState(
  ledger: Pick<Ledger, "write">,
  state: UpstreamStatus["state"],
  status: () => UpstreamStatus,
): void {
  const action = CHANGES[state];
  if (action === undefined) return;
  const { name, transport, cause } = status();
  const detail = { state, transport, ...(cause !== undefined && { cause: cleanCause(cause) }) };
  ledger.write({ actor: "gateway", action, subject: name, detail }, "batched").catch(() => undefined);
}

/** Where each upstream is, as the operator wrote it; adapters are nowhere but here. */
export function findPlaces({ upstreams, apis }: Settings): ReadonlyMap<ConnectorId, ServerPlace> {
  const places = new Map<ConnectorId, ServerPlace>();
  for (const [id, upstream] of upstreams) {
    const { transport } = upstream;
    places.set(id, transport === "stdio" ? { kind: "command", ...upstream } : { kind: "url", url: upstream.url });
  }
  for (const [id, { baseUrl, document }] of apis) {
    const url = baseUrl ?? (document.kind === "url" ? document.url : undefined);
    if (url !== undefined) places.set(id, { kind: "api", url });
  }
  return places;
}

/** All at once, and nobody waits: the catalog shares these attempts, and a failure is in the upstream's state. */
export function startEagerly(connectors: readonly Connector[], { upstreams }: Settings): void {
  const eager = connectors.filter(({ id }) => upstreams.get(id)?.start === "eager");
  for (const connector of eager) connector.tools().catch(() => undefined);
}

/** Which protocol era each upstream spoke last time. */
function createVerdicts({ meta }: Store): EraVerdicts {
  return {
    get: async (id) => parseVerdictText(await meta.get(`era:${id}`)),
    set: (id, verdict) => meta.set(`era:${id}`, toVerdictText(verdict)),
  };
}

/** Secrets are lent when an upstream starts, to that upstream alone. */
function toConnectorSettings(
  id: ConnectorId,
  upstream: ServerSettings,
  parts: UpstreamParts & { readonly lender: Lender },
): McpConnectorOptions["settings"] {
  const purpose = `upstream ${id}`;
  const { lender } = parts;
  if (upstream.transport !== "stdio") {
    const { transport: kind, url, headers, network, startMs } = upstream;
    const tokens = createTokens(id, upstream, { ...parts, onToken: lender.remember });
    return { kind, url, startMs, network, tokens, resolveHeaders: () => fillTexts(headers, lender, purpose) };
  }
  const { command, args, cwd, env, startMs } = upstream;
  return { kind: "stdio", command, args, cwd, startMs, resolveEnv: () => fillTexts(env, lender, purpose) };
}

/** As for MCP servers: what the document and its API need is lent when the document is read. */
function toApiSettings(id: ConnectorId, api: ApiSettings, vault: Lender): OpenapiConnectorOptions["settings"] {
  const { headers, auth, ...rest } = api;
  const fill = (templates: ApiSettings["auth"]) => () => fillTexts(templates, vault, `upstream ${id}`);
  const holdsSecret = (name: string): boolean => headers[name]?.some((part) => typeof part !== "string") ?? false;
  const secretHeaders = Object.keys(headers).filter(holdsSecret);
  return { ...rest, resolveHeaders: fill(headers), resolveAuth: fill(auth), secretHeaders };
}

function readDocument(path: string, maxBytes: number): Promise<string> {
  return readTextFile(path, { maxBytes, kind: "an OpenAPI document" });
}
