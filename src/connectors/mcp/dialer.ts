/** Makes connections to one server: finds out its era, keeps track of everything that may have a process behind it. */

import { untilAborted } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import { closedError } from "../lifecycle.ts";
import { createWire } from "./wire/create-wire.ts";
import type { WireOptions } from "./wire/create-wire.ts";
import type { Garbage, Wire } from "./wire/wire.ts";
import { planHandshakes } from "./era.ts";
import type { EraVerdict, EraVerdicts, Handshake } from "./era.ts";
import { openLink } from "./link.ts";
import type { Link, LinkOptions } from "./link.ts";
import { speaksForOtherEra, toUpstreamError } from "./to-error.ts";

export interface DialerOptions extends WireOptions {
  /** Without it every start asks the server for its era. */
  readonly verdicts?: EraVerdicts;
}

type LinkEvents = Pick<LinkOptions, "onToolsChanged" | "onEnd">;

/** Owns the wires that it opened until they are discarded or it is closed. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #events: LinkEvents;
  readonly #wires = new Set<Wire>();
  /** The latest one, alive or not: its output explains the present state. */
  #latest: Wire | undefined;

  constructor(options: DialerOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  stderr(): readonly string[] {
    return this.#latest?.stderr() ?? [];
  }

  garbage(): Garbage | undefined {
    return this.#latest?.garbage();
  }

  /**
   * A verdict that turned out wrong is forgotten; where the failure speaks for the other era, that one is tried within
   * the same attempt, so that a server which was updated or set back costs nobody a failed call.
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

  discard(wire: Wire): void {
    void wire.close().finally(() => this.#wires.delete(wire));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#wires].map((wire) => wire.close()));
  }

  async #tryEach([first = "ask", ...others]: readonly Handshake[], signal: AbortSignal): Promise<Link> {
    try {
      return await this.#try(first, signal);
    } catch (thrown) {
      const isDoubtful = thrown instanceof GloveboxError && speaksForOtherEra(thrown);
      if (signal.aborted || others.length === 0 || !isDoubtful) throw thrown;
      return this.#tryEach(others, signal);
    }
  }

  async #try(handshake: Handshake, signal: AbortSignal): Promise<Link> {
    const { id, clean, settings } = this.#options;
    const probeMs =
      handshake === "ask" && settings.kind === "stdio" ? settings.startMs / PROBE_SHARE : settings.startMs;
    let wire: Wire | undefined;
    try {
      wire = await untilAborted(createWire(this.#options), signal);
      this.#latest = wire;
      this.#wires.add(wire);
      return await untilAborted(openLink(wire, { handshake, probeMs, signal, ...this.#events }), signal);
    } catch (thrown) {
      const error = toUpstreamError(thrown, { id, clean, trouble: wire?.trouble(), isOpening: true });
      if (wire) this.discard(wire);
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

/** An old server on a pipe may never answer a question that it does not know; it gets a third of the time to do so. */
const PROBE_SHARE = 3;

function startTimeout(id: ConnectorId, startMs: number): GloveboxError {
  return new GloveboxError("UPSTREAM_TIMEOUT", `${id}: it was not ready within ${startMs} ms`, {
    hint: "Raise startupTimeoutMs if the server is slow to start; `glovebox servers` shows what it printed",
  });
}
