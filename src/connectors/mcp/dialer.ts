/** Opens connections to one server: finds out its protocol era and owns every transport that may have a process. */

import { untilAborted } from "../../timing/index.ts";

import type { DurableValues } from "../connector.ts";
import { UpstreamError, closedError } from "../upstream-error.ts";
import { createTransport } from "./transport/create-transport.ts";
import type { ServerTransport, TransportOptions } from "./transport/create-transport.ts";
import { parseVerdictText, planHandshakes, toVerdictText } from "./era.ts";
import type { EraVerdict, Handshake } from "./era.ts";
import { openLink } from "./link.ts";
import type { Link, LinkOptions } from "./link.ts";
import { toUpstreamError } from "./to-error.ts";

/** An old server on a pipe may never answer an unknown request, so the probe gets a third of the time. */
const PROBE_SHARE = 3;

export interface DialerOptions extends TransportOptions {
  /**
   * Remembers the era of the server between starts; without it every start probes. A failure to remember only costs
   * time, so it is ignored.
   */
  readonly values?: Pick<DurableValues, "get" | "set">;
}

type LinkEvents = Pick<LinkOptions, "onToolsChanged" | "onEnd">;

/** Owns the transports that it opened until they are discarded or it is closed. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #events: LinkEvents;
  readonly #transports = new Set<ServerTransport>();
  /** Open or not: its output explains the current state. */
  latest: ServerTransport | undefined;

  constructor(options: DialerOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  /**
   * Forgets a verdict that turned out wrong. If the failure suggests the other era, tries that one within the same
   * attempt, so that an updated or downgraded server does not cost a failed call.
   */
  async open(closing: AbortSignal): Promise<Link> {
    const { id, now, settings } = this.#options;
    const isSse = settings.kind === "sse";
    const values = isSse ? undefined : this.#options.values;
    const key = `era:${id}`;
    const remember = async (found?: EraVerdict): Promise<void> =>
      values?.set(key, toVerdictText(found)).catch(() => undefined);
    const deadline = AbortSignal.timeout(settings.startMs);
    const verdict = parseVerdictText(await values?.get(key).catch(() => undefined));
    try {
      const plan = isSse ? (["legacy"] as const) : planHandshakes(verdict, now());
      const link = await this.#try(plan, AbortSignal.any([closing, deadline]));
      if (link.era !== verdict?.era) await remember({ era: link.era, at: now() });
      return link;
    } catch (thrown) {
      if (closing.aborted) throw closedError(id);
      if (verdict) await remember();
      if (!deadline.aborted) throw thrown;
      const hint = "Raise startupTimeoutMs if the server is slow to start; `glovebox servers` shows its output";
      const cause = `it was not ready within ${settings.startMs} ms`;
      throw new UpstreamError({ code: "UPSTREAM_TIMEOUT", cause, hint }, id);
    }
  }

  discard(transport: ServerTransport): void {
    void transport.close().finally(() => this.#transports.delete(transport));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports].map((transport) => transport.close()));
  }

  async #try([handshake = "ask", ...others]: readonly Handshake[], signal: AbortSignal): Promise<Link> {
    const { id, clean, settings } = this.#options;
    const { kind, startMs } = settings;
    const probeMs = handshake === "ask" && kind === "stdio" ? startMs / PROBE_SHARE : startMs;
    let transport: ServerTransport | undefined;
    try {
      transport = await untilAborted(createTransport(this.#options), signal);
      this.latest = transport;
      this.#transports.add(transport);
      return await untilAborted(
        openLink(transport, { id, clean, handshake, probeMs, signal, ...this.#events }),
        signal,
      );
    } catch (thrown) {
      const error = toUpstreamError(thrown, { id, clean, failure: transport?.failure?.(), isOpening: true });
      if (transport) this.discard(transport);
      // A server of the other era would have failed like this.
      const isDoubtful = error instanceof UpstreamError && error.kind !== undefined;
      if (signal.aborted || others.length === 0 || !isDoubtful) throw error;
      return this.#try(others, signal);
    }
  }
}
