/** Translates what a protocol client can throw into the product's own errors: a code, a cause, a remedy. */

import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import { toShownText } from "../cap-text.ts";
import type { Clean } from "../cap-text.ts";
import { InputRequired } from "./link.ts";
import { STREAM_ENDED } from "./wire/http-wire.ts";
import type { Trouble } from "./wire/wire.ts";

const MAX_MESSAGE_BYTES = 2048;

export interface ErrorContext {
  readonly id: ConnectorId;
  readonly clean: Clean;
  /** Facts from underneath the protocol, which explain a closed connection better than the client can. */
  readonly trouble: Trouble | undefined;
  /** Nobody has called a tool yet: the server was asked to begin and to list what it has. */
  readonly isOpening?: boolean;
}

/** Messages name the upstream. Text from the server is cleaned and capped; status lines and bodies are left out. */
export function toUpstreamError(thrown: unknown, context: ErrorContext): GloveboxError {
  const known = findOwnError(thrown);
  if (known) return known;
  if (thrown instanceof InputRequired) return fromTrouble(ASKS_SOMEBODY, context.id);
  const isAnswer = thrown instanceof ProtocolError;
  const trouble = (isAnswer ? undefined : context.trouble) ?? diagnose(thrown, context);
  return fromTrouble(trouble, context.id, thrown);
}

/** An error that still knows which kind of trouble it came from. */
export class UpstreamError extends GloveboxError {
  readonly kind: Trouble["kind"];

  constructor(trouble: Trouble, id: ConnectorId, cause?: unknown) {
    super(trouble.code, `${id}: ${trouble.cause}`, { cause, hint: trouble.hint, unsent: isUnsent(cause) });
    this.kind = trouble.kind;
  }
}

/** The error for known trouble, in the one form that all messages about an upstream have. */
export function fromTrouble(trouble: Trouble, id: ConnectorId, cause?: unknown): GloveboxError {
  return new UpstreamError(trouble, id, cause);
}

/** True when the process behind a connection ended by itself. */
export function isCrash(error: GloveboxError): boolean {
  return error instanceof UpstreamError && error.kind === "crash";
}

/** True when a server of the other protocol era would have failed like this. */
export function speaksForOtherEra(error: GloveboxError): boolean {
  return error instanceof UpstreamError && error.kind !== undefined;
}

/** What an aborted call is called: a time limit is the upstream's failure, anything else its caller's wish. */
export function toAbortError(signal: AbortSignal, id: ConnectorId): GloveboxError {
  const reason: unknown = signal.reason;
  if (reason instanceof GloveboxError) return reason;
  if (reason instanceof DOMException && reason.name === "TimeoutError") {
    const hint = "Ask for less at a time, or raise callMs";
    return fromTrouble({ code: "UPSTREAM_TIMEOUT", cause: "the call took longer than it may", hint }, id);
  }
  return fromTrouble({ code: "REQUEST_CANCELLED", cause: "the call was cancelled", hint: "Send it again" }, id);
}

function diagnose(thrown: unknown, context: ErrorContext): Trouble {
  // What failed while the era was negotiated is wrapped; the failure itself says more.
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.EraNegotiationFailed && thrown.cause !== undefined) {
    return diagnose(thrown.cause, context);
  }
  const versions = findForeignVersions(thrown);
  if (versions) return ofForeignVersion(versions);
  if (thrown instanceof ProtocolError) return fromProtocol(thrown, context);
  if (thrown instanceof UnauthorizedError) return fromStatus(401);
  if (thrown instanceof SdkHttpError) return fromStatus(thrown.status);
  if (thrown instanceof SdkError) return fromSdk(thrown);
  const foreign = FOREIGN_ANSWERS.get(thrown instanceof Error ? thrown.name : "");
  if (foreign !== undefined) return brokenAnswer(foreign);
  const cause = `it cannot be reached (${toSystemCode(thrown) ?? "connection failed"})`;
  return { code: "UPSTREAM_UNREACHABLE", cause, hint: "Check that the server runs and that its address is right" };
}

/** By name: the parsers of the client throw what they please, and one of them is not a dependency of ours. */
const FOREIGN_ANSWERS: ReadonlyMap<string, string> = new Map([
  ["ZodError", "its answer is JSON, but no message of MCP"],
  ["SyntaxError", "its answer is not JSON"],
]);

/** The client has no class of its own for this one. */
const FOREIGN_VERSION = /^Server's protocol version is not supported: (.*)$/s;

/** The versions that a server speaks when none of them is ours; `undefined` for every other failure. */
function findForeignVersions(thrown: unknown): readonly unknown[] | undefined {
  if (thrown instanceof UnsupportedProtocolVersionError) return thrown.supported;
  if (thrown instanceof ProtocolError) {
    const supported = isJsonObject(thrown.data) ? thrown.data["supported"] : undefined;
    return Array.isArray(supported) ? supported : undefined;
  }
  const [, version] = FOREIGN_VERSION.exec(thrown instanceof Error ? thrown.message : "") ?? [];
  return version === undefined ? undefined : [version];
}

function ofForeignVersion(versions: readonly unknown[]): Trouble {
  const shown = versions.slice(0, 5).filter((one) => typeof one === "string" && /^[\w.-]{1,40}$/.test(one));
  const which = shown.length === 0 ? "" : ` (it says ${shown.join(", ")})`;
  return {
    code: "UPSTREAM_RESULT_INVALID",
    cause: `it speaks no version of MCP that Glovebox knows${which}`,
    hint: "Update the server; Glovebox speaks 2024-10-07 to 2026-07-28",
    kind: "misunderstood",
  };
}

function brokenAnswer(cause: string): Trouble {
  const hint = "Check that the address belongs to an MCP server, and that the server is up to date";
  return { code: "UPSTREAM_RESULT_INVALID", cause, hint, kind: "misunderstood" };
}

function ofOpening(text: string): Pick<Trouble, "cause" | "hint"> {
  const hint = "Check what the server needs to begin: its network, its account, its settings";
  return { cause: `it answered its first requests with an error: ${text}`, hint };
}

function ofCall(text: string): Pick<Trouble, "cause" | "hint"> {
  return { cause: text, hint: "Check the tool's name and arguments against its description" };
}

function fromProtocol(thrown: ProtocolError, { clean, isOpening = false }: ErrorContext): Trouble {
  if (thrown.code === STREAM_ENDED) {
    const hint = "The server broke off, or its answer was too large; ask for less at a time";
    return { code: "UPSTREAM_UNREACHABLE", cause: "the response ended before the answer came", hint };
  }
  if (thrown.code === NEEDS_CAPABILITY) return ASKS_SOMEBODY;
  const text = toShownText(thrown.message, clean, MAX_MESSAGE_BYTES);
  return { code: "UPSTREAM_FAILED", kind: "misunderstood", ...(isOpening ? ofOpening(text) : ofCall(text)) };
}

/** The server would have to ask something of this client that it did not offer (2026-07-28). */
const NEEDS_CAPABILITY = -32_021;

/** Of a tool that wants an answer from a person, or from a model, before it goes on. There is nobody to ask. */
export const ASKS_SOMEBODY: Trouble = {
  code: "UPSTREAM_FAILED",
  cause: "the tool asks for input from a person while it runs, and Glovebox cannot pass the question on",
  hint: "Give everything that it needs in the arguments, or use another tool",
};

function fromStatus(status: number): Trouble {
  const cause = `it answered with HTTP status ${status}`;
  if (status === 401 || status === 403) {
    return { code: "UPSTREAM_AUTH_REQUIRED", cause, hint: "Set or renew the credential in this upstream's headers" };
  }
  const hint = "Check that the URL is an MCP endpoint and the server is well";
  return { code: "UPSTREAM_UNREACHABLE", cause, hint, kind: "misunderstood" };
}

function fromSdk(thrown: SdkError): Trouble {
  if (thrown.code === SdkErrorCode.RequestTimeout) {
    return { code: "UPSTREAM_TIMEOUT", cause: "it did not answer in time", hint: "Try again later" };
  }
  if (BROKEN_ANSWERS.includes(thrown.code)) {
    return brokenAnswer("its answer breaks the protocol");
  }
  return { code: "UPSTREAM_UNREACHABLE", cause: "the connection was closed", hint: "Call again to reconnect" };
}

const BROKEN_ANSWERS: readonly SdkErrorCode[] = [
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
  SdkErrorCode.EraNegotiationFailed,
];

/** An error of ours that a client wrapped in its own, such as a refused redirect. */
function findOwnError(thrown: unknown): GloveboxError | undefined {
  let error: unknown = thrown;
  for (let depth = 0; depth < 4 && error instanceof Error; depth += 1) {
    if (error instanceof GloveboxError) return error;
    error = error.cause;
  }
  return undefined;
}

/** No connection came about. */
function isUnsent(thrown: unknown): boolean {
  return UNSENT.includes(toSystemCode(thrown) ?? "");
}

const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** The system's short word for a failed connection, such as ECONNREFUSED; fetch hides it one or two causes deep. */
function toSystemCode(thrown: unknown): string | undefined {
  let error: unknown = thrown;
  for (let depth = 0; depth < 4 && error instanceof Error; depth += 1) {
    if ("code" in error && typeof error.code === "string" && /^[A-Z_]{3,40}$/.test(error.code)) return error.code;
    error = error.cause;
  }
  return undefined;
}
