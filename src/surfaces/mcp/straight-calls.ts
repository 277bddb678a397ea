/**
 * `tools/call` of a client on a pipe without the general machinery of the SDK, which checks every message and result
 * several times. The SDK keeps everything else, and every call that differs from the usual form in any way.
 */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import type { Implementation, JSONRPCMessage, RequestId, Result, Server } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import type { ToolAnswer } from "./call-tool.ts";
import { answerCall, describeServer } from "./create-mcp-server.ts";
import type { CallParams } from "./create-mcp-server.ts";

/** What the SDK found out about the connection by answering a call. */
interface Opening {
  readonly server: Server;
  readonly era: "legacy" | "modern";
  /** The one that the SDK has checked; only clients of 2026-07-28 send one. */
  readonly rawEnvelope: unknown;
}

interface StraightRequest {
  readonly id: RequestId;
  readonly params: CallParams;
  readonly envelopeText: string;
}

/** The calls of one connection. */
export class StraightCalls {
  readonly #door: McpDoor;
  readonly #info: Implementation;
  readonly #send: (message: JSONRPCMessage) => void;
  readonly #open = new Map<RequestId, AbortController>();
  #opening: Opening | undefined;
  #envelopeText = "";

  constructor(door: McpDoor, send: (message: JSONRPCMessage) => void) {
    this.#door = door;
    this.#info = describeServer(door);
    this.#send = send;
  }

  /** Called when the SDK has answered a call: its era is decided, so later calls with the same envelope need no checks. */
  admit(opening: Opening): void {
    const { era, rawEnvelope } = opening;
    if ((era === "modern") !== (rawEnvelope !== undefined)) return;
    const text = toEnvelopeText(isJsonObject(rawEnvelope) ? rawEnvelope : {});
    if (text === undefined) return;
    this.#opening = opening;
    this.#envelopeText = text;
  }

  /** Returns true for a call that it answers, and for the cancellation of one. */
  take(message: JsonObject): boolean {
    if (message["method"] === "notifications/cancelled") return this.#cancel(message["params"]);
    const opening = this.#opening;
    const request = opening && message["method"] === "tools/call" ? parseCall(message) : undefined;
    if (!opening || !request || request.envelopeText !== this.#envelopeText) return false;
    this.#start(opening, request);
    return true;
  }

  /** Cancels every call, because the client has disconnected. */
  end(): void {
    const calls = [...this.#open.values()];
    this.#open.clear();
    for (const stop of calls) stop.abort();
  }

  #start({ server, era, rawEnvelope }: Opening, { id, params }: StraightRequest): void {
    const stop = new AbortController();
    this.#open.set(id, stop);
    const settle = (answer: { readonly result: Result } | { readonly error: WireError }): void => {
      // A cancelled request has no answer, and its id may be in use again.
      if (this.#open.get(id) !== stop) return;
      this.#open.delete(id);
      this.#send({ jsonrpc: "2.0", id, ...answer });
    };
    answerCall(this.#door, server, params, {
      rawEnvelope,
      signal: stop.signal,
      report: (progress) => server.notification({ method: "notifications/progress", params: { ...progress } }),
      send: (form, options) => server.request(form, options),
    }).then(
      (answer) => settle({ result: era === "modern" ? this.#toModern(answer) : answer }),
      (error: unknown) => settle({ error: toWireError(error) }),
    );
  }

  /** Results of 2026-07-28 have a type and name the server. */
  #toModern(answer: ToolAnswer): Result {
    return { resultType: "complete", ...answer, _meta: { ...answer._meta, [SERVER_INFO_META_KEY]: this.#info } };
  }

  #cancel(params: unknown): boolean {
    const { requestId, reason } = isJsonObject(params) ? params : {};
    const stop = isId(requestId) ? this.#open.get(requestId) : undefined;
    if (!stop || !isId(requestId)) return false;
    this.#open.delete(requestId);
    stop.abort(typeof reason === "string" ? reason : undefined);
    return true;
  }
}

const ENVELOPE_KEYS: readonly string[] = [
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
];
const RESERVED = "io.modelcontextprotocol/";

/** Equal for equal envelopes. Returns `undefined` if `_meta` has a key that only the SDK understands. */
function toEnvelopeText(meta: JsonObject): string | undefined {
  const keys = Object.keys(meta).filter((key) => key.startsWith(RESERVED));
  if (keys.some((key) => !ENVELOPE_KEYS.includes(key))) return undefined;
  return JSON.stringify(ENVELOPE_KEYS.map((key) => (keys.includes(key) ? [meta[key]] : [])));
}

/** Returns `undefined` for a request that only the SDK can answer, such as an invalid one. */
function parseCall(message: JsonObject): StraightRequest | undefined {
  const { id, params } = message;
  if (Object.keys(message).length !== 4 || !isJsonObject(params)) return undefined;
  const { name, arguments: args, _meta = {}, ...more } = params;
  if (typeof name !== "string" || Object.keys(more).length > 0 || !isJsonObject(_meta)) return undefined;
  const { progressToken } = _meta;
  const envelopeText = toEnvelopeText(_meta);
  if (envelopeText === undefined || (args !== undefined && !isJsonObject(args))) return undefined;
  if (!isId(id) || (progressToken !== undefined && !isId(progressToken))) return undefined;
  return { id, params: { name, arguments: args, _meta }, envelopeText };
}

function isId(raw: unknown): raw is RequestId {
  return typeof raw === "string" || Number.isSafeInteger(raw);
}

interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** `callTool` throws only errors of the protocol; anything else is a fault of ours. */
function toWireError(thrown: unknown): WireError {
  if (!(thrown instanceof ProtocolError)) return { code: ProtocolErrorCode.InternalError, message: "Internal error" };
  const { code, message, data } = thrown;
  return { code, message, ...(data !== undefined && { data }) };
}
