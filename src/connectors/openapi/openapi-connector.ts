/** A connector for one API that an OpenAPI document describes: one tool per operation, one request per call. */

import { defined } from "../../domain/index.ts";
import type { ConnectorId, GloveboxError, Instant, JsonObject, UpstreamStatus } from "../../domain/index.ts";
import { untilAborted } from "../../timing/index.ts";

import type { CallOptions, Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { Lifecycle } from "../lifecycle.ts";
import { createListeners } from "../listeners.ts";
import { toShownText } from "../shown-text.ts";
import type { TextCleaner } from "../shown-text.ts";
import {
  UpstreamError,
  closedError,
  findOwnError,
  toAbortError,
  toConnectionFailure,
  toFact,
} from "../upstream-error.ts";
import type { UpstreamFailure } from "../upstream-error.ts";
import { loadApi } from "./load-api.ts";
import type { Api, LoadOptions } from "./load-api.ts";
import { buildRequest } from "./request/build-request.ts";
import { readResponse } from "./request/read-response.ts";

const MAX_HINT_BYTES = 1024;

export interface OpenapiConnectorOptions extends LoadOptions {
  readonly now: () => Instant;
  /** Applied to every text of the API that is shown to anyone. */
  readonly clean: TextCleaner;
  /** Called after each change of state. Must not throw. */
  readonly onState?: (state: UpstreamStatus["state"]) => void;
}

/** The document is read at the first `tools()` or `call()`, and again only after a restart. */
export function createOpenapiConnector(options: OpenapiConnectorOptions): Connector {
  return new OpenapiConnector(options);
}

class OpenapiConnector implements Connector {
  readonly id: ConnectorId;
  readonly #options: OpenapiConnectorOptions;
  readonly #lifecycle: Lifecycle<Api>;
  readonly #listeners = createListeners();
  #api: Api | undefined;

  constructor(options: OpenapiConnectorOptions) {
    const { id, now, onState } = options;
    this.id = id;
    this.#options = options;
    this.#lifecycle = new Lifecycle<Api>({ id, now, onState, open: (closing) => this.#open(closing) });
  }

  status(): UpstreamStatus {
    const { state, since, error } = this.#lifecycle.view();
    const hint = error?.details.hint ?? this.#api?.hint;
    return {
      name: this.id,
      state,
      transport: "openapi",
      tools: this.#api?.tools.length ?? 0,
      since,
      ...defined({
        cause: error && toFact(error, this.id),
        hint: hint === undefined ? undefined : toShownText(hint, this.#options.clean, MAX_HINT_BYTES),
      }),
    };
  }

  async tools(signal?: AbortSignal): Promise<readonly RemoteTool[]> {
    return (await this.#lifecycle.reach(signal)).tools;
  }

  async call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult> {
    const { signal } = options;
    try {
      return await this.#send(await this.#lifecycle.reach(signal), remoteName, { args, options });
    } catch (thrown) {
      if (signal.aborted) throw toAbortError(signal, this.id);
      if (this.#lifecycle.closing.aborted) throw closedError(this.id);
      throw this.#explain(thrown);
    }
  }

  /** A document does not change while it is in use, so listeners are called after a restart only. */
  onToolsChanged(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** The next use reads the document and resolves its secrets again. Calls in progress keep their old ones. */
  async restart(): Promise<void> {
    this.#lifecycle.restart();
    this.#listeners.notify();
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
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
    if (!operation) throw new UpstreamError(UNKNOWN_OPERATION, this.id);
    const { url, init } = buildRequest(operation, args, api);
    onSent?.();
    const response = await api.fetchFor(operation)(url, {
      ...init,
      signal: AbortSignal.any([signal, this.#lifecycle.closing]),
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
    return findOwnError(thrown) ?? new UpstreamError(toConnectionFailure(thrown), this.id, thrown);
  }
}

const UNKNOWN_OPERATION: UpstreamFailure = {
  code: "UPSTREAM_FAILED",
  cause: "the document has no such operation",
  hint: "Check the tool's name against its description",
};

function startTimeout(id: ConnectorId, startMs: number): GloveboxError {
  const cause = `the document was not read within ${startMs} ms`;
  const hint = "Raise startupTimeoutMs, or save the document as a file";
  return new UpstreamError({ code: "UPSTREAM_TIMEOUT", cause, hint }, id);
}
