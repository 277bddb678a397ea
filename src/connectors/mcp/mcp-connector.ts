/** A connector for one MCP server, over stdio or HTTP: connects, lists, calls. It does not know who is asking. */

import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId, Instant, JsonObject, UpstreamStatus } from "../../domain/index.ts";

import type { CallOptions, Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { createWire } from "../wire/create-wire.ts";
import type { WireOptions } from "../wire/create-wire.ts";
import { describeCause } from "./describe-cause.ts";
import { Lifecycle, closedError } from "../lifecycle.ts";
import { openLink } from "./link.ts";
import type { Link } from "./link.ts";
import { fromTrouble, toAbortError, toUpstreamError } from "./to-error.ts";
import { toValue } from "./to-value.ts";
import { untilAborted } from "../until-aborted.ts";
import type { Wire } from "../wire/wire.ts";

export interface McpConnectorOptions extends WireOptions {
  readonly id: ConnectorId;
  readonly now: () => Instant;
}

/** Nothing starts before the first `tools()` or `call()`. */
export function createMcpConnector(options: McpConnectorOptions): Connector {
  return new McpConnector(options);
}

class McpConnector implements Connector {
  readonly id: ConnectorId;
  readonly #options: McpConnectorOptions;
  readonly #lifecycle;
  readonly #listeners = new Set<() => void>();
  /** Everything that may have a process or a stream behind it. */
  readonly #wires = new Set<Wire>();
  /** The latest one, alive or not: its output explains the present state. */
  #wire: Wire | undefined;
  #tools: readonly RemoteTool[] = [];
  #isStale = false;
  #refresh: Promise<readonly RemoteTool[]> | undefined;

  constructor(options: McpConnectorOptions) {
    this.id = options.id;
    this.#options = options;
    const open = (closing: AbortSignal): Promise<Link> => this.#open(closing);
    this.#lifecycle = new Lifecycle<Link>({ id: options.id, now: options.now, open });
  }

  status(): UpstreamStatus {
    const { state, since, error } = this.#lifecycle.view();
    const { kind } = this.#options.settings;
    const stderr = this.#wire?.stderr() ?? [];
    return {
      name: this.id,
      state,
      transport: kind,
      tools: this.#tools.length,
      since,
      ...(error && { cause: describeCause(error, this.id, this.#wire) }),
      ...(error?.details.hint !== undefined && { hint: error.details.hint }),
      ...(stderr.length > 0 && { stderr }),
    };
  }

  async tools(signal: AbortSignal = new AbortController().signal): Promise<readonly RemoteTool[]> {
    try {
      const link = await untilAborted(this.#lifecycle.reach(), signal);
      if (!this.#isStale && !this.#refresh) return this.#tools;
      this.#refresh ??= this.#refetch(link).finally(() => (this.#refresh = undefined));
      return await untilAborted(this.#refresh, signal);
    } catch (thrown) {
      throw signal.aborted ? toAbortError(signal, this.id) : thrown;
    }
  }

  async call(remoteName: string, args: JsonObject, { signal }: CallOptions): Promise<RemoteResult> {
    let link: Link | undefined;
    try {
      link = await untilAborted(this.#lifecycle.reach(), signal);
      const rawResult = await link.callTool(remoteName, args, signal);
      this.#lifecycle.prove(link);
      return { value: toValue(rawResult, this.#options.clean), attachments: [] };
    } catch (thrown) {
      if (signal.aborted) throw toAbortError(signal, this.id);
      throw link ? this.#explain(thrown, link) : thrown;
    }
  }

  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
    await Promise.all([...this.#wires].map((wire) => wire.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(closing: AbortSignal): Promise<Link> {
    const { startMs } = this.#options.settings;
    const deadline = AbortSignal.timeout(startMs);
    const signal = AbortSignal.any([closing, deadline]);
    let wire: Wire | undefined;
    try {
      wire = await untilAborted(createWire(this.#options), signal);
      this.#wire = wire;
      this.#wires.add(wire);
      const link = await untilAborted(this.#shake(wire, signal), signal);
      this.#adopt(link.tools);
      return link;
    } catch (thrown) {
      if (wire) this.#discard(wire);
      if (closing.aborted) throw closedError(this.id);
      if (deadline.aborted) throw startTimeout(this.id, startMs);
      throw toUpstreamError(thrown, { id: this.id, clean: this.#options.clean, trouble: wire?.trouble() });
    }
  }

  #shake(wire: Wire, signal: AbortSignal): Promise<Link> {
    const onEnd = (link: Link): void => {
      const trouble = wire.trouble() ?? LOST;
      this.#lifecycle.lose(link, fromTrouble(trouble, this.id));
      this.#discard(wire);
    };
    return openLink(wire, { onToolsChanged: () => this.#markStale(), onEnd }, signal);
  }

  /** A server that came back with other tools has changed them just as if it had said so. */
  #adopt(tools: readonly RemoteTool[]): void {
    const isChanged = this.#tools.length > 0 && JSON.stringify(this.#tools) !== JSON.stringify(tools);
    this.#tools = tools;
    this.#isStale = false;
    if (isChanged) this.#notify();
  }

  /** Only the first notice since the last listing is passed on, so a flood of them costs nothing. */
  #markStale(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    this.#notify();
  }

  /** A listener that throws hurts neither the connection nor the other listeners. */
  #notify(): void {
    for (const listener of this.#listeners)
      void Promise.resolve()
        .then(listener)
        .catch(() => undefined);
  }

  /** A change that is announced while the pages come in makes the list stale again. */
  async #refetch(link: Link): Promise<readonly RemoteTool[]> {
    this.#isStale = false;
    try {
      this.#tools = await link.listTools(AbortSignal.timeout(this.#options.settings.startMs));
      return this.#tools;
    } catch (thrown) {
      this.#isStale = true;
      throw this.#explain(thrown, link);
    }
  }

  /** A connection that cannot be reached is given up, so that the next call makes a new one. */
  #explain(thrown: unknown, link: Link): GloveboxError {
    if (this.#lifecycle.view().state === "closed") return closedError(this.id);
    const { clean } = this.#options;
    const error = toUpstreamError(thrown, { id: this.id, clean, trouble: link.wire.trouble() });
    if (error.code === "UPSTREAM_UNREACHABLE") {
      this.#lifecycle.lose(link, error);
      void link.untilIdle().then(() => this.#discard(link.wire));
    } else if (error.code === "UPSTREAM_FAILED") {
      this.#lifecycle.prove(link);
    }
    return error;
  }

  #discard(wire: Wire): void {
    void wire.close().finally(() => this.#wires.delete(wire));
  }
}

const LOST = {
  code: "UPSTREAM_UNREACHABLE",
  cause: "the connection was lost",
  hint: "Call again to reconnect",
} as const;

function startTimeout(id: ConnectorId, startMs: number): GloveboxError {
  return new GloveboxError("UPSTREAM_TIMEOUT", `${id}: it was not ready within ${startMs} ms`, {
    hint: "Raise startupTimeoutMs if the server is slow to start; `glovebox servers` shows what it printed",
  });
}
