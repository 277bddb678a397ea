/** A connector for an adapter: calls the operator's own functions on the host and requires JSON from them. */

import { runInSlices, untilAborted } from "../../timing/index.ts";
import { GloveboxError, parseSecretName } from "../../domain/index.ts";
import type { Adapter, AdapterContext, ConnectorId, Effect } from "../../domain/index.ts";
import type { Instant, JsonObject, SecretName, UpstreamNetwork } from "../../domain/index.ts";
import type { Egress, FetchLike } from "../../egress/index.ts";
import type { Secret } from "../../vault/index.ts";

import { toShownText } from "../shown-text.ts";
import type { TextCleaner } from "../shown-text.ts";
import type { CallOptions, Connector, RemoteAnnotations, RemoteResult, RemoteTool } from "../connector.ts";
import { PLAIN_NETWORK, matchesName, listPolicies } from "../network-policies.ts";
import { DEFAULT_MESSAGE_BYTES } from "../settings.ts";
import { closedError, toAbortError } from "../upstream-error.ts";
import { toJson } from "./define-adapter.ts";

const MAX_ERROR_BYTES = 2048;

export interface AdapterConnectorOptions {
  readonly id: ConnectorId;
  readonly adapter: Adapter;
  readonly now: () => Instant;
  /** Applied to error messages of a tool before they are shown. */
  readonly clean: TextCleaner;
  readonly lend: (name: SecretName) => Promise<Secret>;
  readonly egress: Pick<Egress, "fetchUnder">;
  /** Where the `fetch` of its tools may go. Default: nowhere. */
  readonly network?: UpstreamNetwork;
}

/** Ready from the start: there is nothing to connect to. */
export function createAdapterConnector(options: AdapterConnectorOptions): Connector {
  const { id, adapter, now } = options;
  const closing = new AbortController();
  const startedAt = now();
  const tools = new Map(Object.entries(adapter.tools));
  const listed = [...tools].map(([name, { description, input, output, effect }]): RemoteTool => {
    return { name, description, input, output, annotations: ANNOTATIONS[effect] };
  });

  async function call(remoteName: string, args: JsonObject, { signal, onSent }: CallOptions): Promise<RemoteResult> {
    if (closing.signal.aborted) throw closedError(id);
    if (signal.aborted) throw toAbortError(signal, id);
    const tool = tools.get(remoteName);
    if (!tool) throw failed(`${id}: the adapter has no such tool`);
    const secrets = createLoan(options);
    const context = createContext(options, remoteName, { ends: [signal, closing.signal], secret: secrets.secret });
    onSent?.();
    try {
      const given: unknown = tool.run(args, context);
      const isDone = typeof given !== "object" || given === null || !("then" in given);
      const value = isDone ? given : await untilAborted(Promise.resolve(given), signal, closing.signal);
      return { value: await runInSlices(toJson(value, id)), attachments: [] };
    } catch (thrown) {
      if (signal.aborted) throw toAbortError(signal, id);
      if (closing.signal.aborted) throw closedError(id);
      throw toCallError(thrown, id, (text) => toShownText(secrets.hide(text), options.clean, MAX_ERROR_BYTES));
    }
  }

  async function close(): Promise<void> {
    closing.abort(closedError(id));
  }

  return {
    id,
    status: () => {
      const state = closing.signal.aborted ? "closed" : "ready";
      return { name: id, state, transport: "adapter", tools: tools.size, since: startedAt };
    },
    call,
    close,
    tools: async () => (closing.signal.aborted ? Promise.reject(closedError(id)) : listed),
    onToolsChanged: () => () => undefined,
    [Symbol.asyncDispose]: close,
  };
}

/** The inverse of `effectOf` in the catalog. */
const ANNOTATIONS: Readonly<Record<Effect, RemoteAnnotations>> = {
  read: { readOnly: true },
  write: { readOnly: false, destructive: false },
  destroy: { readOnly: false, destructive: true },
  unknown: {},
};

/** Each of `ends` ends the call. Creates the signal and `fetch` on first use, because most tools use neither. */
function createContext(
  options: AdapterConnectorOptions,
  remoteName: string,
  { ends, secret }: Pick<AdapterContext, "secret"> & { readonly ends: AbortSignal[] },
): AdapterContext {
  let signal: AbortSignal | undefined;
  let fetch: FetchLike | undefined;
  return {
    secret,
    get signal() {
      return (signal ??= AbortSignal.any(ends));
    },
    get fetch() {
      return (fetch ??= createFetch(options, remoteName, this.signal));
    },
  };
}

/** Ends with the call, also if the adapter passes no signal. */
function createFetch({ id, egress, network }: AdapterConnectorOptions, tool: string, call: AbortSignal): FetchLike {
  const policies = listPolicies(network ?? PLAIN_NETWORK, (pattern) => matchesName(pattern, tool));
  const setting = `networkPolicy of the adapter ${id}`;
  const fetch = egress.fetchUnder(policies.length > 0 ? policies : [{ mode: "blocked", setting }], {
    maxBytes: DEFAULT_MESSAGE_BYTES,
  });
  return (url, init = {}) => fetch(url, { ...init, signal: init.signal ? AbortSignal.any([call, init.signal]) : call });
}

/** Remembers the secrets that were lent during one call, so that they can be removed from an error. */
function createLoan({ id, lend }: AdapterConnectorOptions): Pick<AdapterContext, "secret"> & { hide: TextCleaner } {
  const lent = new Set<string>();
  return {
    async secret(rawName) {
      const name = parseSecretName(rawName);
      if (name === undefined) throw failed(`${id}: a secret's name may only contain letters, digits and underscores`);
      const secret = await lend(name).catch((thrown: unknown) => Promise.reject(toMissing(thrown, id)));
      lent.add(secret.reveal());
      return secret.reveal();
    },
    hide: (text) =>
      [...lent].reduce((shown, value) => (value === "" ? shown : shown.replaceAll(value, "[secret]")), text),
  };
}

/** A missing secret is a task for the operator, not a fault of the gateway. */
function toMissing(thrown: unknown, id: ConnectorId): unknown {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "VAULT_SECRET_MISSING") return thrown;
  return new GloveboxError("UPSTREAM_AUTH_REQUIRED", `${id}: ${thrown.message}`, { ...thrown.details, cause: thrown });
}

function toCallError(thrown: unknown, id: ConnectorId, toShown: TextCleaner): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  const text = thrown instanceof Error ? thrown.message : typeof thrown === "string" ? thrown : "";
  return failed(`${id}: ${toShown(text).trim() || "the tool failed without a message"}`, thrown);
}

function failed(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("UPSTREAM_FAILED", message, {
    hint: "The tool itself reported this; check the arguments against its description",
    cause,
  });
}
