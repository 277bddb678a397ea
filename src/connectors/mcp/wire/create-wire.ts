/** Chooses and furnishes the transport for an upstream's settings. Nothing is started or sent yet. */

import { GloveboxError } from "../../../domain/index.ts";
import type { ChildKeeper, ConnectorId, FamilyWatch, Instant } from "../../../domain/index.ts";
import type { Egress } from "../../../egress/index.ts";

import { authorizeFetch } from "./authorize-fetch.ts";
import type { Clean } from "../../shown-text.ts";
import { PLAIN_NETWORK, listPolicies } from "../../network-policies.ts";
import { capStreams } from "./cap-events.ts";
import { toChildEnvironment } from "./child-environment.ts";
import { HttpWire } from "./http-wire.ts";
import { DEFAULT_MESSAGE_BYTES } from "../../settings.ts";
import type { HttpSettings, StdioSettings, ConnectionSettings } from "../../settings.ts";
import { SseWire } from "./sse-wire.ts";
import { StdioWire } from "./stdio-wire.ts";
import type { Wire } from "./wire.ts";

export interface WireOptions {
  readonly id: ConnectorId;
  readonly settings: ConnectionSettings;
  /** The gateway's environment, of which a child server gets five variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly keeper: ChildKeeper;
  /** Without it, what left the process group of a child server outlives it. */
  readonly watchFamily?: (pid: number) => FamilyWatch;
  readonly egress: Egress;
  readonly now: () => Instant;
  /** Applied to every text of the server that is shown to anyone. */
  readonly clean: Clean;
}

/** Asks for the secrets now, so that a value changed since the last start is used. */
export async function createWire(options: WireOptions): Promise<Wire> {
  const { settings } = options;
  switch (settings.kind) {
    case "stdio":
      return createStdioWire(settings, options);
    case "http":
    case "sse":
      return createHttpWire(settings, options);
    default:
      return settings satisfies never;
  }
}

async function createStdioWire(settings: StdioSettings, options: WireOptions): Promise<Wire> {
  const { command, args, cwd, messageBytes = DEFAULT_MESSAGE_BYTES } = settings;
  const { environment, keeper, watchFamily, clean, now } = options;
  const env = toChildEnvironment(environment, await settings.resolveEnv());
  const optional = { ...(cwd !== undefined && { cwd }), ...(watchFamily && { watchFamily }) };
  return new StdioWire({ command, args, env, messageBytes, keeper, clean, now, ...optional });
}

async function createHttpWire(settings: HttpSettings, { id, egress }: WireOptions): Promise<Wire> {
  const url = URL.parse(settings.url);
  if (!url) {
    throw new GloveboxError("CONFIG_INVALID", "The url of this upstream is not a URL", {
      hint: "Write it as https://host/path",
    });
  }
  const { messageBytes = DEFAULT_MESSAGE_BYTES, network = PLAIN_NETWORK } = settings;
  // The operator wrote this address, which makes it good also in a private network.
  const reach = { mayBePrivate: true, policies: listPolicies(network) };
  const whole = egress.fetchFrom(url.origin, { maxBytes: messageBytes, ...reach });
  const endless = egress.fetchFrom(url.origin, { maxBytes: Number.POSITIVE_INFINITY, ...reach });
  const plain = capStreams(whole, endless, messageBytes);
  const headers = await settings.resolveHeaders();
  const { tokens } = settings;
  tokens?.forget(); // a login or logout since the last connect counts now
  const fetch = tokens && !new Headers(headers).has("authorization") ? authorizeFetch(id, plain, tokens) : plain;
  const options = { url, fetch, headers };
  return settings.kind === "sse" ? new SseWire(options) : new HttpWire(options);
}
