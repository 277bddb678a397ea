/** Creates the transport for an upstream's settings. Starts and sends nothing. */

import { GloveboxError, defined } from "../../../domain/index.ts";
import type { ChildKeeper, ConnectorId, FamilyWatch, Instant } from "../../../domain/index.ts";
import type { Egress } from "../../../egress/index.ts";

import { authorizeFetch } from "./authorize-fetch.ts";
import type { TextCleaner } from "../../shown-text.ts";
import { PLAIN_NETWORK, listPolicies } from "../../network-policies.ts";
import { capStreams } from "./cap-events.ts";
import { toChildEnvironment } from "./child-environment.ts";
import { HttpTransport } from "./http-transport.ts";
import { DEFAULT_MESSAGE_BYTES } from "../../settings.ts";
import type { HttpSettings, StdioSettings, ConnectionSettings } from "../../settings.ts";
import { SseTransport } from "./sse-transport.ts";
import { StdioTransport } from "./stdio-transport.ts";
import type { ServerTransport } from "./server-transport.ts";

export interface TransportOptions {
  readonly id: ConnectorId;
  readonly settings: ConnectionSettings;
  /** The gateway's environment; a child server gets five of its variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly keeper: ChildKeeper;
  /** Without it, processes that left the group of a child server outlive it. */
  readonly watchFamily?: (pid: number) => FamilyWatch;
  readonly egress: Egress;
  readonly now: () => Instant;
  /** Applied to every text of the server that is shown to anyone. */
  readonly clean: TextCleaner;
}

/** Resolves the secrets now, so that a value changed since the last start is used. */
export async function createTransport(options: TransportOptions): Promise<ServerTransport> {
  const { settings } = options;
  switch (settings.kind) {
    case "stdio":
      return createStdioTransport(settings, options);
    case "http":
    case "sse":
      return createHttpTransport(settings, options);
    default:
      return settings satisfies never;
  }
}

async function createStdioTransport(settings: StdioSettings, options: TransportOptions): Promise<ServerTransport> {
  const { command, args, cwd, messageBytes = DEFAULT_MESSAGE_BYTES } = settings;
  const { environment, keeper, watchFamily, clean, now } = options;
  const env = toChildEnvironment(environment, await settings.resolveEnv());
  const optional = defined({ cwd, watchFamily });
  return new StdioTransport({ command, args, env, messageBytes, keeper, clean, now, ...optional });
}

async function createHttpTransport(settings: HttpSettings, { id, egress }: TransportOptions): Promise<ServerTransport> {
  const url = URL.parse(settings.url);
  if (!url) {
    throw new GloveboxError("CONFIG_INVALID", "The url of this upstream is not a URL", {
      hint: "Write it as https://host/path",
    });
  }
  const { messageBytes = DEFAULT_MESSAGE_BYTES, network = PLAIN_NETWORK } = settings;
  // The operator configured this address, so it may be in a private network.
  const reach = { mayBePrivate: true, policies: listPolicies(network) };
  const whole = egress.fetchFrom(url.origin, { maxBytes: messageBytes, ...reach });
  const endless = egress.fetchFrom(url.origin, { maxBytes: Number.POSITIVE_INFINITY, ...reach });
  const plain = capStreams(whole, endless, messageBytes);
  const headers = await settings.resolveHeaders();
  const { tokens } = settings;
  tokens?.forget(); // applies a login or logout since the last connect
  const fetch = tokens && !new Headers(headers).has("authorization") ? authorizeFetch(id, plain, tokens) : plain;
  const options = { url, fetch, headers };
  return settings.kind === "sse" ? new SseTransport(options) : new HttpTransport(options);
}
