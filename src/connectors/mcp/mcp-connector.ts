/** A connector for one MCP server, over any transport and protocol era. It is not told on whose behalf it calls. */

import type { ProgressCallback } from "@modelcontextprotocol/client";

import { defined } from "../../domain/index.ts";
import type { CallProgress, ConnectorId, GloveboxError } from "../../domain/index.ts";
import type { JsonObject, UpstreamStatus } from "../../domain/index.ts";
import { NEVER, runInSlices } from "../../timing/index.ts";

import { Breaker } from "../breaker.ts";
import type { CallOptions, Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { Lifecycle } from "../lifecycle.ts";
import { createListeners } from "../listeners.ts";
import type { ConfinementReport } from "../settings.ts";
import { toShownText } from "../shown-text.ts";
import {
  LoginNeeded,
  UpstreamError,
  closedError,
  toAbortError,
  toFact,
  unreachable,
  waitFor,
} from "../upstream-error.ts";
import { Dialer } from "./dialer.ts";
import type { DialerOptions } from "./dialer.ts";
import type { Link } from "./link.ts";
import { callSkill } from "./messages/skills.ts";
import { callSynthetic } from "./messages/synthetic.ts";
import { parseResult } from "./messages/parse-result.ts";
import { paceChanges } from "./pace-changes.ts";
import { toUpstreamError } from "./to-error.ts";

/** Lines of output in the cause of a failure. */
const SHOWN_LINES = 5;
/** At most ten progress notifications a second. */
const PROGRESS_PAUSE_MS = 100;
const MAX_PROGRESS_BYTES = 500;

export interface McpConnectorOptions extends DialerOptions {
  /** Called after each change of state of the connection. Must not throw. */
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
  readonly #listeners = createListeners();
  readonly #changes: ReturnType<typeof paceChanges>;
  #tools: readonly RemoteTool[] = [];
  #signature = "";
  /** Those that the connector makes itself, by name. */
  #synthetic: ReadonlyMap<string, RemoteTool> = new Map();
  #revision: string | undefined;
  #isStale = false;
  #refresh: Promise<readonly RemoteTool[]> | undefined;

  constructor(options: McpConnectorOptions) {
    const { id, now, onState } = options;
    this.id = id;
    this.#options = options;
    const onEnd = (link: Link): void => this.#onEnd(link);
    const isCrash = (error: GloveboxError): boolean => error instanceof UpstreamError && error.kind === "crash";
    this.#changes = paceChanges({ now, onChange: () => this.#markStale() });
    this.#dialer = new Dialer(options, { onToolsChanged: () => this.#changes.announce(this.#isStale), onEnd });
    this.#lifecycle = new Lifecycle<Link>({ id, now, isCrash, onState, open: (closing) => this.#open(closing) });
    this.#breaker = new Breaker({ id, now });
  }

  status(): UpstreamStatus {
    const { state, since, error } = this.#lifecycle.view();
    const { latest } = this.#dialer;
    const stderr = latest?.stderr?.() ?? [];
    // Contains output of the server, so it belongs into status displays and never into an error for a model.
    const output = stderr.length > 0 ? `its last output: ${stderr.slice(-SHOWN_LINES).join(" | ")}` : undefined;
    const facts = error && [toFact(error, this.id), latest?.garbage?.(), output];
    return {
      name: this.id,
      state: state === "failed" && error instanceof LoginNeeded ? "needs-login" : state,
      transport: this.#options.settings.kind,
      ...defined({ era: this.#revision }),
      tools: this.#tools.length,
      since,
      ...defined({
        cause: facts?.filter((fact) => fact !== undefined).join("; "),
        hint: error?.details.hint,
        stderr: stderr.length > 0 ? stderr : undefined,
        confinement: latest?.confinement?.() ?? this.#configured(),
      }),
    };
  }

  #configured(): ConfinementReport | undefined {
    const { settings } = this.#options;
    if (settings.kind !== "stdio") return undefined;
    return settings.level && { level: settings.level };
  }

  async tools(signal: AbortSignal = NEVER): Promise<readonly RemoteTool[]> {
    const link = await this.#lifecycle.reach(signal);
    if (!this.#isStale && !this.#refresh) return this.#tools;
    this.#refresh ??= this.#refetch(link).finally(() => (this.#refresh = undefined));
    return waitFor(this.#refresh, signal, this.id);
  }

  async call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult> {
    const { signal, onProgress: listener, onSent, trace, askInput } = options;
    // Waiting for a connection that is there would only cost time.
    const link = this.#lifecycle.connected(signal) ?? (await this.#lifecycle.reach(signal));
    const attempt = this.#breaker.enter();
    const synthetic = this.#synthetic.get(remoteName);
    try {
      onSent?.();
      const onProgress = listener && createProgressGate(listener, this.#options);
      const ask = (method: string, params: JsonObject) => link.ask(method, params, { signal, onProgress });
      const result = synthetic
        ? await (synthetic.request ? callSkill(synthetic, args, ask) : callSynthetic(remoteName, args, ask))
        : await this.#parse(await link.callTool(remoteName, args, { signal, onProgress, trace, askInput }));
      this.#lifecycle.prove(link);
      attempt.answered();
      return result;
    } catch (thrown) {
      const error = signal.aborted ? toAbortError(signal, this.id) : this.#explain(thrown, link);
      if (error.code === "UPSTREAM_FAILED") link.transport.noteError?.(error.message);
      // A skill that is not as listed: its new definition waits for approval once it is listed again.
      if (error.code === "UPSTREAM_RESULT_INVALID" && synthetic?.request) this.#markStale();
      if (error.code === "UPSTREAM_FAILED" || error.code === "UPSTREAM_RESULT_INVALID") attempt.answered();
      else attempt.failed(error);
      throw error;
    }
  }

  /** Only a large result takes more than one slice. */
  #parse(rawResult: unknown): RemoteResult | Promise<RemoteResult> {
    const work = parseResult(rawResult, this.#options.clean);
    const first = work.next();
    return first.done === true ? first.value : runInSlices(work);
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Notifies the listeners, so that the catalog lists the tools again and thereby starts the server. */
  async restart(): Promise<void> {
    const link = this.#lifecycle.restart();
    this.#breaker.reset();
    await link?.transport.close();
    this.#listeners.notify();
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
    this.#changes.stop();
    await this.#dialer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #setTools({ tools, signature }: Link): void {
    this.#tools = tools;
    this.#signature = signature;
    this.#synthetic = new Map(tools.flatMap((tool) => (tool.synthetic ? [[tool.name, tool]] : [])));
  }

  /** A server that returns with other tools counts as one that announced a change. */
  async #open(closing: AbortSignal): Promise<Link> {
    const link = await this.#dialer.open(closing);
    const isChanged = this.#tools.length > 0 && this.#signature !== link.signature;
    this.#revision = link.revision;
    this.#setTools(link);
    this.#isStale = false;
    if (isChanged) this.#listeners.notify();
    return link;
  }

  #onEnd(link: Link): void {
    const failure = link.transport.failure?.() ?? unreachable("the connection was lost");
    this.#lifecycle.lose(link, new UpstreamError(failure, this.id));
    this.#dialer.discard(link.transport);
  }

  /** Notifies only once per listing. */
  #markStale(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    this.#listeners.notify();
  }

  /** A change that is announced while the pages arrive makes the list stale again. */
  async #refetch(link: Link): Promise<readonly RemoteTool[]> {
    this.#isStale = false;
    try {
      await link.listTools(AbortSignal.timeout(this.#options.settings.startMs));
      this.#setTools(link);
      return this.#tools;
    } catch (thrown) {
      this.#isStale = true;
      throw this.#explain(thrown, link);
    }
  }

  /** Drops a connection that cannot be reached or whose login has expired. The next call opens a new one. */
  #explain(thrown: unknown, link: Link): GloveboxError {
    if (this.#lifecycle.view().state === "closed") return closedError(this.id);
    const { clean } = this.#options;
    const error = toUpstreamError(thrown, { id: this.id, clean, failure: link.transport.failure?.() });
    if (error.code === "UPSTREAM_UNREACHABLE" || error instanceof LoginNeeded) {
      this.#lifecycle.lose(link, error);
      void link.untilIdle().then(() => this.#dialer.discard(link.transport));
    } else if (error.code === "UPSTREAM_FAILED") {
      this.#lifecycle.prove(link);
    }
    return error;
  }
}

/** Passes progress on, cleaned and cut. What comes too often is dropped before its text is read. */
function createProgressGate(
  listener: (progress: CallProgress) => void,
  { now, clean }: Pick<McpConnectorOptions, "now" | "clean">,
): ProgressCallback {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress: done, total, message }) => {
    const at = now();
    if (!Number.isFinite(done) || at - last < PROGRESS_PAUSE_MS) return;
    last = at;
    const shown = message === undefined ? undefined : toShownText(message, clean, MAX_PROGRESS_BYTES);
    listener({ done, ...defined({ total: Number.isFinite(total) ? total : undefined, message: shown }) });
  };
}
