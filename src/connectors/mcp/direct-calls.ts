/**
 * `tools/call` on a pipe without the general machinery of the client: one line per request, and answers are matched by
 * their ids. Everything else of the protocol belongs to the client.
 */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/client";
import type { Implementation, ProgressCallback } from "@modelcontextprotocol/client";

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, TraceContext } from "../../domain/index.ts";

import type { Era } from "./era.ts";
import type { LineChannel } from "./transport/stdio-transport.ts";

/** The client counts its own requests from 0. A 32-bit integer, because some servers accept no other id. */
const FIRST_ID = 2 ** 30;

/** The server answered with an input request (2026-07-28, multi round-trip requests). Its fields are unchecked. */
export class InputRequired extends Error {
  readonly rawRequests: unknown;
  readonly rawState: unknown;

  constructor(rawRequests: unknown, rawState: unknown) {
    super("The server requires input");
    this.rawRequests = rawRequests;
    this.rawState = rawState;
  }
}

/** What Glovebox offers to servers: forms and addresses for a person. Sampling and roots are not offered. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} } };

/** What a call is repeated with after its input request was answered. */
export interface RepeatParams {
  readonly inputResponses?: JsonObject;
  readonly requestState?: string;
}

export interface DirectCallOptions {
  /** The only time limit. When it fires, the server is told and a later answer is ignored. */
  readonly signal: AbortSignal;
  readonly onProgress?: ProgressCallback | undefined;
  /** Sent in `_meta`. */
  readonly trace?: TraceContext | undefined;
}

interface PendingAnswer {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ProgressCallback | undefined;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

/** The calls of one connection. */
export class DirectCalls {
  readonly #channel: LineChannel;
  readonly #era: Era;
  /** What every message of the 2026-07-28 era has in `_meta`. */
  readonly #envelope: JsonObject | undefined;
  readonly #open = new Map<number, PendingAnswer>();
  #nextId = FIRST_ID;
  #onIdle: (() => void) | undefined;

  constructor(channel: LineChannel, { era, revision, client }: { era: Era; revision: string; client: Implementation }) {
    this.#channel = channel;
    this.#era = era;
    this.#envelope = era === "modern" ? toEnvelope(revision, client) : undefined;
    channel.onparsed = (message) => this.#take(message);
  }

  /** Resolves with the result as the server sent it. Rejects with `InputRequired` if that is an input request. */
  call(name: string, args: JsonObject, options: DirectCallOptions, repeat: RepeatParams = {}): Promise<JsonObject> {
    const { signal, onProgress, trace } = options;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const id = this.#nextId++;
      const onAbort = (): void => this.#cancel(id);
      this.#open.set(id, { resolve, reject, onProgress, signal, onAbort });
      signal.addEventListener("abort", onAbort, { once: true });
      const _meta = { ...this.#envelope, ...trace, ...(onProgress && { progressToken: id }) };
      const hasMeta = onProgress !== undefined || trace !== undefined || this.#envelope !== undefined;
      const params = { name, arguments: args, ...repeat, ...(hasMeta && { _meta }) };
      this.#send({ jsonrpc: "2.0", id, method: "tools/call", params }, (error) => this.#settle(id)?.reject(error));
    });
  }

  /** Fails every call in progress, because the connection has ended. */
  end(): void {
    const error = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
    for (const id of this.#open.keys()) this.#settle(id)?.reject(error);
  }

  /** Resolves when no call is in progress. */
  async untilIdle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #send(message: JsonObject, onFailure: (error: unknown) => void): void {
    try {
      this.#channel.sendLine(JSON.stringify(message), (error) => error && onFailure(error));
    } catch (error) {
      onFailure(error);
    }
  }

  /** Removes the call. Returns `undefined` for an id that belongs to no call, or no more. */
  #settle(id: number): PendingAnswer | undefined {
    const call = this.#open.get(id);
    if (!call) return undefined;
    this.#open.delete(id);
    call.signal.removeEventListener("abort", call.onAbort);
    if (this.#open.size === 0) this.#onIdle?.();
    return call;
  }

  /** The reason of the signal stays in the gateway. */
  #cancel(id: number): void {
    const call = this.#settle(id);
    if (!call) return;
    const params = { requestId: id, reason: "cancelled", ...(this.#envelope && { _meta: this.#envelope }) };
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params }, () => undefined);
    call.reject(call.signal.reason);
  }

  /** Returns true for an answer to one of these calls, and for its progress, also when the call has ended. */
  #take(message: JsonObject): boolean {
    if (message["jsonrpc"] !== "2.0") return false;
    if (message["method"] === "notifications/progress") return this.#takeProgress(message["params"]);
    const { id, result, error } = message;
    const own = toOwnId(id);
    // A message with more fields is not an answer of JSON-RPC.
    if (own === undefined || Object.keys(message).length !== 3) return false;
    if (isJsonObject(result) && isJsonObject(result["_meta"] ?? {})) this.#complete(own, result);
    else if (isJsonObject(error) && isError(error)) {
      const { code, message: text, data } = error;
      this.#settle(own)?.reject(ProtocolError.fromError(code, text, data));
    } else return false;
    return true;
  }

  #complete(id: number, result: JsonObject): void {
    const call = this.#settle(id);
    if (!call) return;
    const problem = this.#era === "modern" ? findProblem(result) : undefined;
    if (problem) call.reject(problem);
    else call.resolve(result);
  }

  #takeProgress(params: Json | undefined): boolean {
    const { progressToken, progress, total, message } = isJsonObject(params) ? params : {};
    const id = toOwnId(progressToken);
    if (id === undefined) return false;
    const onProgress = this.#open.get(id)?.onProgress;
    const isValid = typeof progress === "number" && (total === undefined || typeof total === "number");
    if (!onProgress || !isValid || (message !== undefined && typeof message !== "string")) return true;
    onProgress({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
    return true;
  }
}

/** Some servers answer with the text of a number. */
function toOwnId(raw: Json | undefined): number | undefined {
  const id = typeof raw === "string" ? Number(raw) : raw;
  return typeof id === "number" && Number.isSafeInteger(id) && id >= FIRST_ID ? id : undefined;
}

function isError(error: JsonObject): error is JsonObject & { readonly code: number; readonly message: string } {
  return Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";
}

/** Only the 2026-07-28 era has types of results. */
function findProblem({ resultType, inputRequests, requestState }: JsonObject): Error | undefined {
  if (resultType === "complete") return undefined;
  const asks =
    (isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0) || typeof requestState === "string";
  if (resultType === "input_required" && asks) return new InputRequired(inputRequests, requestState);
  return new SdkError(SdkErrorCode.InvalidResult, "Invalid result for tools/call");
}

function toEnvelope(revision: string, { name, version }: Implementation): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: revision,
    [CLIENT_INFO_META_KEY]: { name, version },
    [CLIENT_CAPABILITIES_META_KEY]: CAPABILITIES,
  };
}
