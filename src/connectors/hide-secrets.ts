/**
 * Masks lent secrets in everything that an upstream returns. A server may print its environment and an API may echo its
 * headers: what was lent to them must not reach a program, a model, a log or a status line.
 */

import { GloveboxError, defined, mapTexts } from "../domain/index.ts";
import type { CallProgress, UpstreamStatus } from "../domain/index.ts";
import { findExcess, mapLargeTexts } from "../text/index.ts";
import type { createPathMask } from "../text/index.ts";
import { mapInSlices, runInSlices } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import type { Hide } from "../vault/index.ts";

import { MOST_DEPTH } from "./connector.ts";
import type { CallOptions, Connector, RemoteResult, RemoteTool } from "./connector.ts";

interface HideOptions {
  readonly hide: Hide;
  readonly hideOwn: Hide;
  /** Masks the home folder in errors, progress and statuses, unless it is in the arguments of the call. */
  readonly maskHome?: ReturnType<typeof createPathMask>["home"];
}

/**
 * The same upstream with secrets masked in its answers, listings, statuses and errors. `hideOwn` masks the secrets of
 * this upstream only: a definition must not change because another upstream was lent a secret.
 */
export function hideSecrets(
  connector: Connector,
  { hide: hideSecret, hideOwn, maskHome = (text) => text }: HideOptions,
): Connector {
  const hideFrom =
    (written: string): Hide =>
    (text) =>
      maskHome(hideSecret(text), written);
  const hide = hideFrom("");
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
      const offered = tools.filter(({ name }) => hideOwn(name) === name);
      return runInSlices(mapInSlices(offered, (tool) => hideInTool(tool, hideOwn)));
    },
    call: async (name, args, { spend, ...options }) => {
      let written: string | undefined;
      const hideInText: Hide = (text) => hideFrom((written ??= JSON.stringify(args)))(text);
      try {
        const result = await connector.call(name, args, hideInProgress(options, hideInText));
        return await runInSlices(hideInResult(result, hideSecret), spend);
      } catch (thrown) {
        throw hideInThrown(thrown, hideInText);
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
  const { cause, hint, stderr, confinement } = status;
  const { refusedHosts, missingFiles } = confinement ?? {};
  const hidden = {
    cause: cause && hide(cause),
    hint: hint && hide(hint),
    stderr: stderr?.map(hide),
    confinement: confinement && {
      ...confinement,
      ...defined({ refusedHosts: refusedHosts?.map(hide), missingFiles: missingFiles?.map(hide) }),
    },
  };
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
  const excess = yield* findExcess(value, MOST_DEPTH);
  if (excess) {
    const problem =
      excess.of === "depth"
        ? `nests deeper than ${excess.most} levels`
        : `has an object with more than ${excess.most} keys`;
    throw new GloveboxError("LIMIT_SIZE", `The result ${problem}`, {
      hint: "Ask the tool for less: a filter, a page, fewer fields",
    });
  }
  for (const { base64, mimeType } of attachments) {
    if (hide(mimeType) !== mimeType || (yield* holdsSecret(Buffer.from(base64, "base64"), hide))) {
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The answer contains a file with a secret in it", {
        hint: "Report it to the server's operator: it returns a credential that it was lent",
      });
    }
  }
  return { value: yield* mapLargeTexts(value, hide), attachments };
}

/** A secret has at most 64 KiB; its encodings are up to three times as long, apart from escaped characters. */
const OVERLAP_BYTES = 256 * 1024;
const WINDOW_BYTES = 2 * OVERLAP_BYTES;

/** Looks through windows that overlap by the longest secret. */
function* holdsSecret(bytes: Buffer, hide: Hide): SlicedWork<boolean> {
  for (let start = 0; ; start += WINDOW_BYTES - OVERLAP_BYTES) {
    const window = bytes.subarray(start, start + WINDOW_BYTES);
    for (const encoding of ["latin1", "utf8"] as const) {
      const text = window.toString(encoding);
      if (hide(text) !== text) return true;
      yield;
    }
    if (start + WINDOW_BYTES >= bytes.length) return false;
  }
}
