/** A connector for one MCP server, whatever its transport and era: connects, lists, calls. It does not know who asks. */

import { untilAborted } from "../../timing/index.ts";
import type { ConnectorId, GloveboxError, JsonObject, UpstreamStatus } from "../../domain/index.ts";

import { LoginNeeded } from "../login/login-errors.ts";
import { Breaker } from "../breaker.ts";
import type { CallOptions, Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { Lifecycle, closedError } from "../lifecycle.ts";
import { describeCause } from "./describe-cause.ts";
import { Dialer } from "./dialer.ts";
import type { DialerOptions } from "./dialer.ts";
import type { Link } from "./link.ts";
import { createProgressGate } from "./progress.ts";
import { callSynthetic } from "./synthetic.ts";
import { fromTrouble, isCrash, toAbortError, toUpstreamError } from "./to-error.ts";
import { toResult } from "./to-value.ts";

export interface McpConnectorOptions extends DialerOptions {
  /** Hears each new state of the connection. Must not throw. */
  readonly onState?: (state: UpstreamStatus["state"]) => void;
}

/** Nothing starts before the first `tools()` or `call()`. */
export function createMcpConnector(options: McpConnectorOptions): Connector {
  return new McpConnector(options);
}

class McpConnector implements Connector {
  readonly id: ConnectorId;
  readonly #options: McpConnectorOptions;
  readonly #dialer: Dialer;
  readonly #lifecycle: Lifecycle<Link>;
  readonly #breaker: Breaker;
  readonly #listeners = new Set<() => void>();
  #tools: readonly RemoteTool[] = [];
  #revision: string | undefined;
  #isStale = false;
  #refresh: Promise<readonly RemoteTool[]> | undefined;

  constructor(options: McpConnectorOptions) {
    const { id, now, onState } = options;
    this.id = id;
    this.#options = options;
    const onEnd = (link: Link): void => this.#onEnd(link);
    this.#dialer = new Dialer(options, { onToolsChanged: () => this.#markStale(), onEnd });
    this.#lifecycle = new Lifecycle<Link>({
      id,
      now,
      isCrash,
      open: (closing) => this.#open(closing),
      ...(onState && { onState }),
    });
    this.#breaker = new Breaker({ id, now });
  }

  status(): UpstreamStatus {
    const { state, since, error } = this.#lifecycle.view();
    const stderr = this.#dialer.stderr();
    return {
      name: this.id,
      state: state === "failed" && error instanceof LoginNeeded ? "needs-login" : state,
      transport: this.#options.settings.kind,
      ...(this.#revision !== undefined && { era: this.#revision }),
      tools: this.#tools.length,
      since,
      ...(error && { cause: describeCause(error, this.id, this.#dialer) }),
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

  async call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult> {
    const { signal } = options;
    const link = await untilAborted(this.#lifecycle.reach(), signal).catch((thrown: unknown) => {
      throw signal.aborted ? toAbortError(signal, this.id) : thrown;
    });
    const passage = this.#breaker.enter();
    try {
      const result = await this.#send(link, { remoteName, args, options });
      this.#lifecycle.prove(link);
      passage.answered();
      return result;
    } catch (thrown) {
      const error = signal.aborted ? toAbortError(signal, this.id) : this.#explain(thrown, link);
      if (error.code === "UPSTREAM_FAILED" || error.code === "UPSTREAM_RESULT_INVALID") passage.answered();
      else passage.failed(error);
      throw error;
    }
  }

  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Listeners hear of it, so that whoever keeps the list asks again and thereby starts the server. */
  async restart(): Promise<void> {
    const link = this.#lifecycle.restart();
    this.#breaker.reset();
    await link?.wire.close();
    this.#notify();
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
    await this.#dialer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(link: Link, { remoteName, args, options }: Sending): Promise<RemoteResult> {
    const { signal, onProgress, onSent, trace } = options;
    onSent?.();
    const gate = onProgress && { onProgress: createProgressGate(onProgress, this.#options) };
    const askOptions = { signal, ...gate, ...(trace && { trace }) };
    if (this.#tools.some(({ name, synthetic }) => synthetic && name === remoteName)) {
      return callSynthetic(remoteName, args, (method, params) => link.ask(method, params, askOptions));
    }
    return toResult(await link.callTool(remoteName, args, askOptions), this.#options.clean);
  }

  async #open(closing: AbortSignal): Promise<Link> {
    const link = await this.#dialer.open(closing);
    this.#revision = link.revision;
    this.#adopt(link.tools);
    return link;
  }

  #onEnd(link: Link): void {
    this.#lifecycle.lose(link, fromTrouble(link.wire.trouble() ?? LOST, this.id));
    this.#dialer.discard(link.wire);
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

  /** A connection that cannot be reached, or whose login has ended, is given up: the next call makes a new one. */
  #explain(thrown: unknown, link: Link): GloveboxError {
    if (this.#lifecycle.view().state === "closed") return closedError(this.id);
    const { clean } = this.#options;
    const error = toUpstreamError(thrown, { id: this.id, clean, trouble: link.wire.trouble() });
    if (error.code === "UPSTREAM_UNREACHABLE" || error instanceof LoginNeeded) {
      this.#lifecycle.lose(link, error);
      void link.untilIdle().then(() => this.#dialer.discard(link.wire));
    } else if (error.code === "UPSTREAM_FAILED") {
      this.#lifecycle.prove(link);
    }
    return error;
  }
}

interface Sending {
  readonly remoteName: string;
  readonly args: JsonObject;
  readonly options: CallOptions;
}

const LOST = {
  code: "UPSTREAM_UNREACHABLE",
  cause: "the connection was lost",
  hint: "Call again to reconnect",
} as const;
