/** Opens connections to one server: finds out its protocol era and owns every transport that may have a process. */

import { untilAborted } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import { UpstreamError, closedError } from "../upstream-error.ts";
import { createTransport } from "./transport/create-transport.ts";
import type { TransportOptions } from "./transport/create-transport.ts";
import type { Garbage, ServerTransport } from "./transport/server-transport.ts";
import { planHandshakes } from "./era.ts";
import type { EraVerdict, EraVerdicts, Handshake } from "./era.ts";
import { openLink } from "./link.ts";
import type { Link, LinkOptions } from "./link.ts";
import { suggestsOtherEra, toUpstreamError } from "./to-error.ts";

export interface DialerOptions extends TransportOptions {
  /** Without it every start probes the server for its era. */
  readonly verdicts?: EraVerdicts;
}

type LinkEvents = Pick<LinkOptions, "onToolsChanged" | "onEnd">;

/** Owns the transports that it opened until they are discarded or it is closed. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #events: LinkEvents;
  readonly #transports = new Set<ServerTransport>();
  /** The latest one, open or not: its output explains the current state. */
  #latest: ServerTransport | undefined;

  constructor(options: DialerOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  stderr(): readonly string[] {
    return this.#latest?.stderr?.() ?? [];
  }

  garbage(): Garbage | undefined {
    return this.#latest?.garbage?.();
  }

  /**
   * Forgets a verdict that turned out wrong. If the failure suggests the other era, tries that one within the same
   * attempt, so that an updated or downgraded server does not cost a failed call.
   */
  async open(closing: AbortSignal): Promise<Link> {
    const { id, now, settings } = this.#options;
    const deadline = AbortSignal.timeout(settings.startMs);
    const signal = AbortSignal.any([closing, deadline]);
    const verdict = settings.kind === "sse" ? undefined : await this.#recall();
    const plan: readonly Handshake[] = settings.kind === "sse" ? ["legacy"] : planHandshakes(verdict, now());
    try {
      const link = await this.#tryEach(plan, signal);
      if (settings.kind !== "sse" && link.era !== verdict?.era) await this.#remember({ era: link.era, at: now() });
      return link;
    } catch (thrown) {
      if (verdict && !closing.aborted) await this.#remember(undefined);
      if (closing.aborted) throw closedError(id);
      if (deadline.aborted) throw startTimeout(id, settings.startMs);
      throw thrown;
    }
  }

  discard(transport: ServerTransport): void {
    void transport.close().finally(() => this.#transports.delete(transport));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports].map((transport) => transport.close()));
  }

  async #tryEach([first = "ask", ...others]: readonly Handshake[], signal: AbortSignal): Promise<Link> {
    try {
      return await this.#try(first, signal);
    } catch (thrown) {
      const isDoubtful = thrown instanceof GloveboxError && suggestsOtherEra(thrown);
      if (signal.aborted || others.length === 0 || !isDoubtful) throw thrown;
      return this.#tryEach(others, signal);
    }
  }

  async #try(handshake: Handshake, signal: AbortSignal): Promise<Link> {
    const { id, clean, settings } = this.#options;
    const probeMs =
      handshake === "ask" && settings.kind === "stdio" ? settings.startMs / PROBE_SHARE : settings.startMs;
    let transport: ServerTransport | undefined;
    try {
      transport = await untilAborted(createTransport(this.#options), signal);
      this.#latest = transport;
      this.#transports.add(transport);
      return await untilAborted(openLink(transport, { handshake, probeMs, signal, ...this.#events }), signal);
    } catch (thrown) {
      const error = toUpstreamError(thrown, { id, clean, failure: transport?.failure?.(), isOpening: true });
      if (transport) this.discard(transport);
      throw error;
    }
  }

  async #recall(): Promise<EraVerdict | undefined> {
    const { id, verdicts } = this.#options;
    return verdicts?.get(id).catch(() => undefined);
  }

  async #remember(verdict: EraVerdict | undefined): Promise<void> {
    const { id, verdicts } = this.#options;
    await verdicts?.set(id, verdict).catch(() => undefined);
  }
}

/** An old server on a pipe may never answer an unknown request, so the probe gets a third of the time. */
const PROBE_SHARE = 3;

function startTimeout(id: ConnectorId, startMs: number): GloveboxError {
  const hint = "Raise startupTimeoutMs if the server is slow to start; `glovebox servers` shows its output";
  return new UpstreamError({ code: "UPSTREAM_TIMEOUT", cause: `it was not ready within ${startMs} ms`, hint }, id);
}
