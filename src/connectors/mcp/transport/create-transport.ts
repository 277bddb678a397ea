/** Creates the transport for an upstream's settings. Starts and sends nothing. */

import type { Transport } from "@modelcontextprotocol/client";

import { GloveboxError } from "../../../domain/index.ts";
import type { ConnectorId } from "../../../domain/index.ts";
import type { Egress, FetchLike } from "../../../egress/index.ts";
import { readJson } from "../../../text/index.ts";
import { runInSlices } from "../../../timing/index.ts";

import { authorizeFetch } from "./authorize-fetch.ts";
import type { UpstreamFailure } from "../../upstream-error.ts";
import { PLAIN_NETWORK, listPolicies } from "../../network-policies.ts";
import { limitEvents } from "./event-streams.ts";
import { HttpTransport } from "./http-transport.ts";
import { createLargeEvents } from "./large-events.ts";
import { DEFAULT_MESSAGE_BYTES } from "../../settings.ts";
import type { ConfinementReport, ConnectionSettings, HttpSettings } from "../../settings.ts";
import { SseTransport } from "./sse-transport.ts";
import { StdioTransport } from "./stdio-transport.ts";
import type { StdioTransportOptions } from "./stdio-transport.ts";

/**
 * What a child server gets of the gateway's environment, plus the variables that the configuration sets for it.
 * Everything else is left out: the gateway's own key, tokens of other servers, `NODE_OPTIONS`, `LD_PRELOAD`.
 */
const INHERITED = ["PATH", "HOME", "LANG", "TMPDIR", "USER"];

export interface TransportOptions extends Pick<StdioTransportOptions, "keeper" | "watchFamily" | "clean" | "now"> {
  readonly id: ConnectorId;
  readonly settings: ConnectionSettings;
  /** The gateway's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly egress: Egress;
}

/** A transport that can also explain why it failed. A remote server has no output to show. */
export interface ServerTransport extends Transport {
  /** What went wrong below the protocol, as far as it is known. */
  failure?(): UpstreamFailure | undefined;
  /** What the server printed, for the operator and never for a model. */
  stderr?(): readonly string[];
  /** How the process is confined; `undefined` if it is not, or not started. */
  confinement?(): ConfinementReport | undefined;
  /** Called with the error of a call: it may name a file that the confinement does not include. */
  noteError?(text: string): void;
  /** Describes the first line on standard output that is not a message. For the operator, too. */
  garbage?(): string | undefined;
}

/** Resolves the secrets now, so that a value changed since the last start is used. */
export async function createTransport(options: TransportOptions): Promise<ServerTransport> {
  const { settings, environment } = options;
  if (settings.kind !== "stdio") return createHttpTransport(settings, options);
  const { messageBytes = DEFAULT_MESSAGE_BYTES } = settings;
  const { confine } = settings;
  if (confine) {
    const configured = await settings.resolveEnv();
    const launch = () => confine({ ...settings, env: configured });
    return new StdioTransport({ ...options, ...settings, env: configured, messageBytes, launch });
  }
  const inherited = Object.fromEntries(INHERITED.map((name) => [name, environment[name]]));
  const env = { ...inherited, ...(await settings.resolveEnv()) };
  return new StdioTransport({ ...options, ...settings, env, messageBytes });
}

async function createHttpTransport(settings: HttpSettings, { id, egress }: TransportOptions): Promise<ServerTransport> {
  const url = URL.parse(settings.url);
  if (!url) {
    const hint = "Write it as https://host/path";
    throw new GloveboxError("CONFIG_INVALID", "The url of this upstream is not a URL", { hint });
  }
  const { messageBytes = DEFAULT_MESSAGE_BYTES, network = PLAIN_NETWORK } = settings;
  // The operator configured this address, so it may be in a private network.
  const reach = { mayBePrivate: true, policies: listPolicies(network) };
  const whole = egress.fetchFrom(url.origin, { maxBytes: messageBytes, ...reach });
  const endless = egress.fetchFrom(url.origin, { maxBytes: Number.POSITIVE_INFINITY, ...reach });
  const largeEvents = createLargeEvents();
  const plain = limitEvents({ whole, endless, maxBytes: messageBytes, largeEvents });
  const headers = await settings.resolveHeaders();
  const { tokens } = settings;
  tokens?.forget(); // applies a login or logout since the last connect
  const fetch = tokens && !new Headers(headers).has("authorization") ? authorizeFetch(id, plain, tokens) : plain;
  const options = { url, fetch: parseInSlices(fetch), headers, restore: largeEvents.restore };
  return settings.kind === "sse" ? new SseTransport(options) : new HttpTransport(options);
}

/** The SDK asks a response for its JSON; a large one would be parsed in one piece. */
function parseInSlices(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const json = async (): Promise<unknown> => {
      const value = await runInSlices(readJson(await response.text()));
      if (value === undefined) throw new SyntaxError("The answer is not valid JSON");
      return value;
    };
    return Object.defineProperty(response, "json", { value: json });
  };
}
