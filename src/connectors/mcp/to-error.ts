/** Translates what the MCP client can throw into the product's own errors: a code, a cause, a remedy. */

import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/client";

import { isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, GloveboxError } from "../../domain/index.ts";

import { toShownText } from "../shown-text.ts";
import type { TextCleaner } from "../shown-text.ts";
import { UpstreamError, findOwnError, toConnectionFailure, unreachable } from "../upstream-error.ts";
import type { UpstreamFailure } from "../upstream-error.ts";
import { InputRequired } from "./direct-calls.ts";
import { STREAM_ENDED } from "./transport/http-transport.ts";

const MAX_MESSAGE_BYTES = 2048;

interface ErrorContext {
  readonly id: ConnectorId;
  readonly clean: TextCleaner;
  /** What the transport knows about a closed connection, which explains it better than the client can. */
  readonly failure: UpstreamFailure | undefined;
  /** True while the connection is opened: the server was only asked to start and to list its tools. */
  readonly isOpening?: boolean;
}

/** Messages name the upstream. Text from the server is cleaned and cut; HTTP status lines and bodies are not shown. */
export function toUpstreamError(thrown: unknown, context: ErrorContext): GloveboxError {
  const known = findOwnError(thrown);
  if (known) return known;
  if (thrown instanceof InputRequired) return new UpstreamError(INPUT_REQUIRED, context.id);
  const isAnswer = thrown instanceof ProtocolError;
  const failure = (isAnswer ? undefined : context.failure) ?? diagnose(thrown, context);
  return new UpstreamError(failure, context.id, thrown);
}

function diagnose(thrown: unknown, context: ErrorContext): UpstreamFailure {
  // The client wraps what failed during the negotiation of the era. The cause explains more.
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.EraNegotiationFailed && thrown.cause !== undefined) {
    return diagnose(thrown.cause, context);
  }
  const versions = findForeignVersions(thrown);
  if (versions) return toVersionFailure(versions);
  if (thrown instanceof ProtocolError) return fromProtocol(thrown, context);
  if (thrown instanceof UnauthorizedError) return fromStatus(401);
  if (thrown instanceof SdkHttpError) return fromStatus(thrown.status);
  if (thrown instanceof SdkError) return fromSdk(thrown);
  const foreign = FOREIGN_ANSWERS.get(thrown instanceof Error ? thrown.name : "");
  return foreign === undefined ? toConnectionFailure(thrown) : toAnswerFailure(foreign);
}

/** Recognized by name: the client's parsers throw errors of packages that are not dependencies of ours. */
const FOREIGN_ANSWERS: ReadonlyMap<string, string> = new Map([
  ["ZodError", "its answer is JSON, but not an MCP message"],
  ["SyntaxError", "its answer is not JSON"],
]);

/** The client has no error class for this. */
const FOREIGN_VERSION = /^Server's protocol version is not supported: (.*)$/s;

/** The versions that a server supports when none of them is supported here; `undefined` for every other failure. */
function findForeignVersions(thrown: unknown): readonly unknown[] | undefined {
  if (thrown instanceof UnsupportedProtocolVersionError) return thrown.supported;
  if (thrown instanceof ProtocolError) {
    const supported = isJsonObject(thrown.data) ? thrown.data["supported"] : undefined;
    return Array.isArray(supported) ? supported : undefined;
  }
  const [, version] = FOREIGN_VERSION.exec(thrown instanceof Error ? thrown.message : "") ?? [];
  return version === undefined ? undefined : [version];
}

function toVersionFailure(versions: readonly unknown[]): UpstreamFailure {
  const shown = versions.slice(0, 5).filter((one) => typeof one === "string" && /^[\w.-]{1,40}$/.test(one));
  const which = shown.length === 0 ? "" : ` (it supports ${shown.join(", ")})`;
  return {
    code: "UPSTREAM_RESULT_INVALID",
    cause: `it supports no MCP version that Glovebox supports${which}`,
    hint: "Update the server; Glovebox supports 2024-10-07 to 2026-07-28",
    kind: "misunderstood",
  };
}

function toAnswerFailure(cause: string): UpstreamFailure {
  const hint = "Check that the address belongs to an MCP server, and that the server is up to date";
  return { code: "UPSTREAM_RESULT_INVALID", cause, hint, kind: "misunderstood" };
}

function fromProtocol(thrown: ProtocolError, { clean, isOpening = false }: ErrorContext): UpstreamFailure {
  if (thrown.code === STREAM_ENDED) {
    const hint = "The server closed the connection, or its answer was too large; ask for less at a time";
    return unreachable("the response ended before the answer came", hint);
  }
  if (thrown.code === NEEDS_CAPABILITY) return INPUT_REQUIRED;
  const text = toShownText(thrown.message, clean, MAX_MESSAGE_BYTES);
  const cause = isOpening ? `it answered its first requests with an error: ${text}` : text;
  const hint = isOpening
    ? "Check what the server needs to start: its network, its account, its settings"
    : "Check the tool's name and arguments against its description";
  return { code: "UPSTREAM_FAILED", kind: "misunderstood", cause, hint };
}

/** The server needs a capability that this client does not offer (2026-07-28). */
const NEEDS_CAPABILITY = -32_021;

/** The tool wants an answer from a person or a model before it continues. A connector cannot ask for one. */
const INPUT_REQUIRED: UpstreamFailure = {
  code: "UPSTREAM_FAILED",
  cause:
    "the tool asks for something that Glovebox does not offer to this call: input from a person, sampling or roots",
  hint: "Give everything that it needs in the arguments, or use another tool",
};

function fromStatus(status: number): UpstreamFailure {
  const cause = `it answered with HTTP status ${status}`;
  if (status === 401 || status === 403) {
    return { code: "UPSTREAM_AUTH_REQUIRED", cause, hint: "Set or renew the credential in this upstream's headers" };
  }
  const hint = "Check that the URL is an MCP endpoint and that the server works";
  return { ...unreachable(cause, hint), kind: "misunderstood" };
}

function fromSdk(thrown: SdkError): UpstreamFailure {
  if (thrown.code === SdkErrorCode.RequestTimeout) {
    return { code: "UPSTREAM_TIMEOUT", cause: "it did not answer in time", hint: "Try again later" };
  }
  if (BROKEN_ANSWERS.includes(thrown.code)) return toAnswerFailure("its answer violates the protocol");
  return unreachable("the connection was closed");
}

const BROKEN_ANSWERS: readonly SdkErrorCode[] = [
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
  SdkErrorCode.EraNegotiationFailed,
];
