/** Errors of one upstream: a code, a cause that names the upstream, and a remedy. The same for every protocol. */

import { GloveboxError, serverCommand } from "../domain/index.ts";
import type { ConnectorId, ErrorCode } from "../domain/index.ts";
import { untilAborted } from "../timing/index.ts";

/** Why a connection ended, could not be opened, or a call on it failed. */
export interface UpstreamFailure {
  readonly code: ErrorCode;
  /** May be shown to a model: exit codes and facts, never output of the server. */
  readonly cause: string;
  readonly hint: string;
  /** `crash`: the process ended by itself. `misunderstood`: the server answers but does not understand the protocol. */
  readonly kind?: "crash" | "misunderstood";
}

/** The connection was lost or could not be opened. */
export function unreachable(cause: string, hint = "Call again to reconnect"): UpstreamFailure {
  return { code: "UPSTREAM_UNREACHABLE", cause, hint };
}

/** The error for a failure, in the form that all messages about an upstream have. */
export class UpstreamError extends GloveboxError {
  readonly kind: UpstreamFailure["kind"];

  constructor({ code, cause: fact, hint, kind }: UpstreamFailure, id: ConnectorId, cause?: unknown) {
    super(code, `${id}: ${fact}`, { cause, hint, unsent: UNSENT.includes(findSystemCode(cause) ?? "") });
    this.kind = kind;
  }
}

/** The upstream cannot be used before a person has logged in. */
export class LoginNeeded extends GloveboxError {
  constructor(id: ConnectorId, cause: string) {
    const hint = `An operator can log in: ${serverCommand("login", id)} (or set a credential in this upstream's headers)`;
    super("UPSTREAM_AUTH_REQUIRED", `${id}: ${cause}`, { hint });
  }
}

/** The error of a call whose connector was closed, before or during the call. */
export function closedError(id: ConnectorId): GloveboxError {
  return new GloveboxError("UPSTREAM_UNREACHABLE", `${id}: the connection was closed by Glovebox`, {
    hint: "The upstream was removed or Glovebox is shutting down",
  });
}

/** The error of an aborted call: a time limit is the upstream's failure, any other reason is the caller's decision. */
export function toAbortError({ reason }: AbortSignal, id: ConnectorId): GloveboxError {
  const thrown: unknown = reason;
  if (thrown instanceof GloveboxError) return thrown;
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    const hint = "Ask for less at a time, or raise callMs";
    return new UpstreamError({ code: "UPSTREAM_TIMEOUT", cause: "the call exceeded its time limit", hint }, id);
  }
  return new UpstreamError({ code: "REQUEST_CANCELLED", cause: "the call was cancelled", hint: "Send it again" }, id);
}

/** Waits for a shared promise. When `signal` fires, only this caller stops waiting. */
export async function waitFor<T>(promise: Promise<T>, signal: AbortSignal, id: ConnectorId): Promise<T> {
  try {
    return await untilAborted(promise, signal);
  } catch (thrown) {
    throw signal.aborted ? toAbortError(signal, id) : thrown;
  }
}

/** An error of Glovebox itself that a client wrapped in its own, such as a refused redirect. */
export function findOwnError(thrown: unknown): GloveboxError | undefined {
  return listCauses(thrown).find((error) => error instanceof GloveboxError);
}

/** For whatever a connection threw. The message of the system is left out: it may name addresses of this network. */
export function toConnectionFailure(thrown: unknown): UpstreamFailure {
  const cause = `it cannot be reached (${findSystemCode(thrown) ?? "connection failed"})`;
  return unreachable(cause, "Check that the server runs and that its address is right");
}

/** The message without the name of the upstream in front, for places that show the name already. */
export function toFact({ message }: GloveboxError, id: ConnectorId): string {
  const prefix = `${id}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

/** System codes that mean that no connection was made, so nothing was sent. */
const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** The system's code for a failed connection, such as ECONNREFUSED; `fetch` hides it one or two causes deep. */
function findSystemCode(thrown: unknown): string | undefined {
  return listCauses(thrown)
    .map((error) => ("code" in error && typeof error.code === "string" ? error.code : ""))
    .find((code) => /^[A-Z_]{3,40}$/.test(code));
}

const MAX_CAUSES = 4;

function listCauses(thrown: unknown): readonly Error[] {
  const errors: Error[] = [];
  for (let error = thrown; error instanceof Error && errors.length < MAX_CAUSES; error = error.cause)
    errors.push(error);
  return errors;
}
