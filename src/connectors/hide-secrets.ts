/**
 * Takes lent secrets out of everything that an upstream says. A server may print its environment, an API may echo its
 * headers: what was lent to them must not come back to a program, a model, a log or a status line.
 */

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { CallProgress, Json, JsonObject, UpstreamStatus } from "../domain/index.ts";

import type { CallOptions, Connector, RemoteResult, RemoteTool } from "./connector.ts";

/** Shorter values would be found in ordinary words. */
const MIN_LENGTH = 4;
const SHOWN = "[secret]";

/** Replaces each secret, in the forms in which texts carry it. */
export type Hide = (text: string) => string;

/** Longest first, so that a part of a value is not replaced before the whole. */
export function createHide(secrets: Iterable<string>): Hide {
  const forms = [...secrets].flatMap((secret) => [
    secret,
    Buffer.from(secret).toString("base64"),
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll("/", String.raw`\/`),
  ]);
  const hidden = [...new Set(forms)]
    .filter((form) => form.length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((shown, form) => shown.replaceAll(form, SHOWN), text);
}

/** Keys too. The value came from JSON text of bounded depth or from a parser that bounds it. */
export function hideInValue(value: Json, hide: Hide): Json {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item: Json) => hideInValue(item, hide));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hideInValue(item, hide)]));
}

/** The same upstream, with `secrets` hidden in whatever it answers, lists, reports or fails with. */
export function hideSecrets(connector: Connector, secrets: ReadonlySet<string>): Connector {
  const hide = followSecrets(secrets);
  const failing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      throw thrown instanceof GloveboxError ? hideInError(thrown, hide) : thrown;
    }
  };
  return {
    id: connector.id,
    status: () => hideInStatus(connector.status(), hide),
    tools: (signal) => failing(connector.tools(signal)).then((tools) => tools.map((tool) => hideInTool(tool, hide))),
    call: (name, args, options) =>
      failing(connector.call(name, args, hideInProgress(options, hide)).then((result) => hideInResult(result, hide))),
    onToolsChanged: (listener) => connector.onToolsChanged(listener),
    ...(connector.restart && { restart: () => failing(connector.restart?.() ?? Promise.resolve()) }),
    close: () => connector.close(),
    [Symbol.asyncDispose]: () => connector.close(),
  };
}

/** The set only grows, while an upstream starts; the forms are made again when it has, and not for every text. */
export function followSecrets(secrets: ReadonlySet<string>): Hide {
  let size = 0;
  let hide: Hide = (text) => text;
  return (text) => {
    if (size !== secrets.size) {
      size = secrets.size;
      hide = createHide(secrets);
    }
    return hide(text);
  };
}

function hideInError(error: GloveboxError, hide: Hide): GloveboxError {
  const { hint, ...details } = error.details;
  return new GloveboxError(error.code, hide(error.message), {
    ...details,
    ...(hint !== undefined && { hint: hide(hint) }),
  });
}

function hideInStatus(status: UpstreamStatus, hide: Hide): UpstreamStatus {
  const { cause, hint, stderr } = status;
  return {
    ...status,
    ...(cause !== undefined && { cause: hide(cause) }),
    ...(hint !== undefined && { hint: hide(hint) }),
    ...(stderr && { stderr: stderr.map(hide) }),
  };
}

/** Its own name is what it is called by, so that stays. */
function hideInTool(tool: RemoteTool, hide: Hide): RemoteTool {
  const input = hideInValue(tool.input, hide);
  const output = tool.output && hideInValue(tool.output, hide);
  return {
    ...tool,
    description: hide(tool.description),
    ...(tool.title !== undefined && { title: hide(tool.title) }),
    input: toSchema(input),
    output: output === null ? null : toSchema(output),
    ...(tool.request && { request: toSchema(hideInValue(tool.request, hide)) }),
  };
}

function toSchema(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

function hideInProgress(options: CallOptions, hide: Hide): CallOptions {
  const { onProgress } = options;
  if (!onProgress) return options;
  const tell = ({ message, ...progress }: CallProgress): void =>
    onProgress({ ...progress, ...(message !== undefined && { message: hide(message) }) });
  return { ...options, onProgress: tell };
}

/** A file cannot be rewritten without breaking it, so one that holds a secret is refused. */
function hideInResult({ value, attachments }: RemoteResult, hide: Hide): RemoteResult {
  for (const { base64 } of attachments) {
    const text = Buffer.from(base64, "base64").toString("latin1");
    if (hide(text) !== text) {
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The answer holds a file with a secret in it", {
        hint: "The server gives back a credential that it was lent; its operator should know",
      });
    }
  }
  return { value: hideInValue(value, hide), attachments };
}
