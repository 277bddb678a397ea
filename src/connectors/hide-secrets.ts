/**
 * Masks lent secrets in everything that an upstream returns. A server may print its environment and an API may echo its
 * headers: what was lent to them must not reach a program, a model, a log or a status line.
 */

import { GloveboxError, defined, depthOf, mapTexts } from "../domain/index.ts";
import type { CallProgress, UpstreamStatus } from "../domain/index.ts";
import { mapLargeTexts } from "../text/index.ts";
import { runInSlices } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import type { Hide } from "../vault/index.ts";

import { MOST_DEPTH } from "./connector.ts";
import type { CallOptions, Connector, RemoteResult, RemoteTool } from "./connector.ts";

/**
 * The same upstream with secrets masked in its answers, listings, statuses and errors. `hideOwn` masks the secrets of
 * this upstream only: a definition must not change because another upstream was lent a secret.
 */
export function hideSecrets(
  connector: Connector,
  { hide, hideOwn }: { readonly hide: Hide; readonly hideOwn: Hide },
): Connector {
  const failing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      throw hideInThrown(thrown, hide);
    }
  };
  return {
    id: connector.id,
    status: () => hideInStatus(connector.status(), hide),
    tools: async (signal) => {
      const tools = await failing(connector.tools(signal));
      return tools.filter(({ name }) => hideOwn(name) === name).map((tool) => hideInTool(tool, hideOwn));
    },
    call: async (name, args, { spend, ...options }) => {
      try {
        const result = await connector.call(name, args, hideInProgress(options, hide));
        return await runInSlices(hideInResult(result, hide), spend);
      } catch (thrown) {
        throw hideInThrown(thrown, hide);
      }
    },
    onToolsChanged: (listener) => connector.onToolsChanged(listener),
    ...defined({ restart: connector.restart && (() => failing(connector.restart?.() ?? Promise.resolve())) }),
    close: () => connector.close(),
    [Symbol.asyncDispose]: () => connector.close(),
  };
}

function hideInThrown(error: unknown, hide: Hide): unknown {
  if (!(error instanceof GloveboxError)) return error;
  const hint = error.details.hint && hide(error.details.hint);
  return new GloveboxError(error.code, hide(error.message), { ...error.details, ...defined({ hint }) });
}

function hideInStatus(status: UpstreamStatus, hide: Hide): UpstreamStatus {
  const { cause, hint, stderr } = status;
  const hidden = { cause: cause && hide(cause), hint: hint && hide(hint), stderr: stderr?.map(hide) };
  return { ...status, ...defined(hidden) };
}

/** Calls use the tool's name, so it is kept; a tool whose name holds a secret is not offered at all. */
function hideInTool(tool: RemoteTool, hide: Hide): RemoteTool {
  return {
    ...tool,
    description: hide(tool.description),
    input: mapTexts(tool.input, hide),
    output: tool.output && mapTexts(tool.output, hide),
    ...defined({ title: tool.title && hide(tool.title), request: tool.request && mapTexts(tool.request, hide) }),
  };
}

function hideInProgress(options: CallOptions, hide: Hide): CallOptions {
  const { onProgress } = options;
  if (!onProgress) return options;
  const report = (progress: CallProgress): void =>
    onProgress({ ...progress, ...defined({ message: progress.message && hide(progress.message) }) });
  return { ...options, onProgress: report };
}

/** A file cannot be rewritten without breaking it, so an answer with a secret in a file is refused. */
function* hideInResult({ value, attachments }: RemoteResult, hide: Hide): SlicedWork<RemoteResult> {
  if (depthOf(value, MOST_DEPTH) > MOST_DEPTH) {
    throw new GloveboxError("LIMIT_SIZE", `The result nests deeper than ${MOST_DEPTH} levels`, {
      hint: "Ask the tool for less: a filter, a page, fewer fields",
    });
  }
  for (const { base64, mimeType } of attachments) {
    const bytes = Buffer.from(base64, "base64");
    const texts = [bytes.toString("latin1"), bytes.toString("utf8"), mimeType];
    if (texts.some((text) => hide(text) !== text)) {
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The answer contains a file with a secret in it", {
        hint: "Report it to the server's operator: it returns a credential that it was lent",
      });
    }
  }
  return { value: yield* mapLargeTexts(value, hide), attachments };
}
