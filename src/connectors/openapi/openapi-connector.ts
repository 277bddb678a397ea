/** A connector for one API that an OpenAPI document describes: one tool per operation, one request per call. */

import { untilAborted } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId, Instant, JsonObject, UpstreamStatus } from "../../domain/index.ts";

import type { Clean } from "../cap-text.ts";
import { toShownText } from "../cap-text.ts";
import type { CallOptions, Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { Lifecycle, closedError } from "../lifecycle.ts";
import { toAbortError, toUpstreamError } from "../mcp/to-error.ts";
import { buildRequest } from "./build-request.ts";
import { loadApi } from "./load-api.ts";
import type { Api, LoadOptions } from "./load-api.ts";
import { readResponse } from "./read-response.ts";

const MAX_HINT_BYTES = 1024;

export interface OpenapiConnectorOptions extends LoadOptions {
  readonly now: () => Instant;
  /** Applied to every text of the API that is shown to anyone. */
  readonly clean: Clean;
  /** Hears each new state. Must not throw. */
  readonly onState?: (state: UpstreamStatus["state"]) => void;
}

/** The document is read at the first `tools()` or `call()`, and again only after a restart. */
export function createOpenapiConnector(options: OpenapiConnectorOptions): Connector {
  return new OpenapiConnector(options);
}

class OpenapiConnector implements Connector {
  readonly id: ConnectorId;
  readonly #options: OpenapiConnectorOptions;
  readonly #lifecycle;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  #api: Api | undefined;

  constructor(options: OpenapiConnectorOptions) {
    this.id = options.id;
    this.#options = options;
    const open = (closing: AbortSignal): Promise<Api> => this.#open(closing);
    const { id, now, onState } = options;
    this.#lifecycle = new Lifecycle<Api>({ id, now, open, ...(onState && { onState }) });
  }

  status(): UpstreamStatus {
    const { state, since, error } = this.#lifecycle.view();
    const prefix = `${this.id}: `;
    const cause = error?.message.startsWith(prefix) === true ? error.message.slice(prefix.length) : error?.message;
    const hint = error?.details.hint ?? this.#api?.hint;
    return {
      name: this.id,
      state,
      transport: "openapi",
      tools: this.#api?.tools.length ?? 0,
      since,
      ...(cause !== undefined && { cause }),
      ...(hint !== undefined && { hint: toShownText(hint, this.#options.clean, MAX_HINT_BYTES) }),
    };
  }

  async tools(signal: AbortSignal = new AbortController().signal): Promise<readonly RemoteTool[]> {
    try {
      return (await untilAborted(this.#lifecycle.reach(), signal)).tools;
    } catch (thrown) {
      throw signal.aborted ? toAbortError(signal, this.id) : thrown;
    }
  }

  async call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult> {
    const { signal } = options;
    try {
      const api = await untilAborted(this.#lifecycle.reach(), signal);
      return await this.#send(api, remoteName, { args, options });
    } catch (thrown) {
      if (signal.aborted) throw toAbortError(signal, this.id);
      if (this.#closing.signal.aborted) throw closedError(this.id);
      throw this.#explain(thrown);
    }
  }

  /** A document does not change while it is in use: there is something to hear only after a restart. */
  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The next use reads the document and asks for its secrets again. Calls under way end with what they began with. */
  async restart(): Promise<void> {
    this.#lifecycle.restart();
    for (const listener of this.#listeners) listener();
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
    this.#closing.abort(closedError(this.id));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(
    api: Api,
    remoteName: string,
    { args, options }: { readonly args: JsonObject; readonly options: CallOptions },
  ): Promise<RemoteResult> {
    const { signal, onSent } = options;
    const operation = api.operations.get(remoteName);
    if (!operation) throw unknownOperation(this.id);
    const { url, init } = buildRequest(operation, args, api);
    onSent?.();
    const response = await api.fetchFor(operation)(url, {
      ...init,
      signal: AbortSignal.any([signal, this.#closing.signal]),
    });
    const { credentials } = api;
    return readResponse(response, { id: this.id, operation, credentials, clean: this.#options.clean });
  }

  async #open(closing: AbortSignal): Promise<Api> {
    const { startMs } = this.#options.settings;
    const deadline = AbortSignal.timeout(startMs);
    const signal = AbortSignal.any([closing, deadline]);
    try {
      this.#api = await untilAborted(loadApi(this.#options, signal), signal);
      return this.#api;
    } catch (thrown) {
      if (closing.aborted) throw closedError(this.id);
      throw deadline.aborted ? startTimeout(this.id, startMs) : this.#explain(thrown);
    }
  }

  #explain(thrown: unknown): GloveboxError {
    return toUpstreamError(thrown, { id: this.id, clean: this.#options.clean, trouble: undefined });
  }
}

function unknownOperation(id: ConnectorId): GloveboxError {
  return new GloveboxError("UPSTREAM_FAILED", `${id}: the document has no such operation`, {
    hint: "Check the tool's name against its description",
  });
}

function startTimeout(id: ConnectorId, startMs: number): GloveboxError {
  return new GloveboxError("UPSTREAM_TIMEOUT", `${id}: the document was not read within ${startMs} ms`, {
    hint: "Raise startupTimeoutMs, or save the document as a file",
  });
}
