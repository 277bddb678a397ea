/** A connector for one API that an OpenAPI document describes: one tool per operation, one request per call. */

import { defined } from "../../domain/index.ts";
import type { GloveboxError, Instant, UpstreamStatus } from "../../domain/index.ts";
import { untilAborted } from "../../timing/index.ts";

import type { Connector } from "../connector.ts";
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
  const { id, now, clean, onState } = options;
  const { startMs } = options.settings;
  const listeners = createListeners();
  const lifecycle = new Lifecycle<Api>({ id, now, onState, open });
  let api: Api | undefined;

  const explain = (thrown: unknown): GloveboxError =>
    findOwnError(thrown) ?? new UpstreamError(toConnectionFailure(thrown), id, thrown);

  async function open(closing: AbortSignal): Promise<Api> {
    const deadline = AbortSignal.timeout(startMs);
    const signal = AbortSignal.any([closing, deadline]);
    try {
      api = await untilAborted(loadApi(options, signal), signal);
      return api;
    } catch (thrown) {
      if (closing.aborted) throw closedError(id);
      if (!deadline.aborted) throw explain(thrown);
      const cause = `the document was not read within ${startMs} ms`;
      const hint = "Raise startupTimeoutMs, or save the document as a file";
      throw new UpstreamError({ code: "UPSTREAM_TIMEOUT", cause, hint }, id);
    }
  }

  const close = async (): Promise<void> => lifecycle.close();

  return {
    id,
    status() {
      const { state, since, error } = lifecycle.view();
      const hint = error?.details.hint ?? api?.hint;
      const shown = hint === undefined ? undefined : toShownText(hint, clean, MAX_HINT_BYTES);
      const facts = defined({ cause: error && toFact(error, id), hint: shown });
      return { name: id, state, transport: "openapi", tools: api?.tools.length ?? 0, since, ...facts };
    },
    tools: async (signal) => (await lifecycle.reach(signal)).tools,
    async call(remoteName, args, { signal, onSent }) {
      try {
        const { operations, fetchFor, base, credentials } = await lifecycle.reach(signal);
        const operation = operations.get(remoteName);
        if (!operation) throw new UpstreamError(UNKNOWN_OPERATION, id);
        const { url, init } = buildRequest(operation, args, { base, credentials });
        onSent?.();
        const ends = AbortSignal.any([signal, lifecycle.closing]);
        const response = await fetchFor(operation)(url, { ...init, signal: ends });
        return await readResponse(response, { id, operation, credentials, clean });
      } catch (thrown) {
        if (signal.aborted) throw toAbortError(signal, id);
        if (lifecycle.closing.aborted) throw closedError(id);
        throw explain(thrown);
      }
    },
    // A document does not change while it is in use, so listeners are called after a restart only.
    onToolsChanged: (listener) => listeners.add(listener),
    /** The next use reads the document and resolves its secrets again. Calls in progress keep their old ones. */
    async restart() {
      lifecycle.restart();
      listeners.notify();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const UNKNOWN_OPERATION = {
  code: "UPSTREAM_FAILED",
  cause: "the document has no such operation",
  hint: "Check the tool's name against its description",
} as const;
