/** The table of all errors, and the only error shape that crosses a boundary. */

import { defined } from "./defined.ts";

interface ErrorKind {
  /** Who caused the error. It decides who may read the message and whether a retry makes sense. */
  readonly fault: "caller" | "program" | "limit" | "policy" | "upstream" | "internal";
  readonly http: number;
  readonly retry: boolean;
  /** What callers read instead of the message, which goes to the log only. */
  readonly text?: string;
}

/** Every error this product can report. A test checks that `docs/errors/<CODE>.md` exists for each. */
export const ERRORS = {
  REQUEST_INVALID: { fault: "caller", http: 400, retry: false },
  REQUEST_UNAUTHENTICATED: { fault: "caller", http: 401, retry: false },
  REQUEST_FORBIDDEN: { fault: "caller", http: 403, retry: false },
  REQUEST_NOT_FOUND: { fault: "caller", http: 404, retry: false },
  REQUEST_CONFLICT: { fault: "caller", http: 409, retry: false },
  REQUEST_CANCELLED: { fault: "caller", http: 499, retry: false },
  CONFIG_INVALID: { fault: "caller", http: 500, retry: false },
  CONFIG_UNTRUSTED: { fault: "caller", http: 500, retry: false },
  LISTEN_FAILED: { fault: "caller", http: 500, retry: false },
  PROGRAM_SYNTAX: { fault: "program", http: 422, retry: false },
  PROGRAM_FORBIDDEN: { fault: "program", http: 422, retry: false },
  PROGRAM_TYPES: { fault: "program", http: 422, retry: false },
  PROGRAM_THREW: { fault: "program", http: 422, retry: false },
  PROGRAM_RESULT_UNSERIALIZABLE: { fault: "program", http: 422, retry: false },
  TOOL_NOT_FOUND: { fault: "program", http: 422, retry: false },
  TOOL_WITHHELD: { fault: "policy", http: 403, retry: false },
  SKILL_NOT_APPROVED: { fault: "policy", http: 403, retry: false },
  SKILL_FROZEN: { fault: "policy", http: 403, retry: false },
  TOOL_ARGUMENTS_INVALID: { fault: "program", http: 422, retry: false },
  LIMIT_TIME: { fault: "limit", http: 422, retry: false },
  LIMIT_MEMORY: { fault: "limit", http: 422, retry: false },
  LIMIT_CALLS: { fault: "limit", http: 422, retry: false },
  LIMIT_SIZE: { fault: "limit", http: 422, retry: false },
  LIMIT_BUSY: { fault: "limit", http: 429, retry: true },
  LIMIT_QUOTA: { fault: "limit", http: 429, retry: true },
  POLICY_DENIED: { fault: "policy", http: 403, retry: false },
  POLICY_APPROVAL_PENDING: { fault: "policy", http: 202, retry: true },
  POLICY_APPROVAL_REJECTED: { fault: "policy", http: 403, retry: false },
  EGRESS_DENIED: { fault: "policy", http: 403, retry: false },
  UPSTREAM_UNREACHABLE: { fault: "upstream", http: 502, retry: true },
  UPSTREAM_TIMEOUT: { fault: "upstream", http: 504, retry: true },
  UPSTREAM_AUTH_REQUIRED: { fault: "upstream", http: 502, retry: false },
  UPSTREAM_FAILED: { fault: "upstream", http: 502, retry: false },
  UPSTREAM_RESULT_INVALID: { fault: "upstream", http: 502, retry: false },
  VAULT_SECRET_MISSING: {
    fault: "internal",
    http: 500,
    retry: false,
    text: "A secret that this call needs is not set",
  },
  STORE_UNAVAILABLE: {
    fault: "internal",
    http: 503,
    retry: true,
    text: "The store cannot be read or written, so no program can run",
  },
  REPLAY_DIVERGED: { fault: "internal", http: 409, retry: false },
  SANDBOX_CRASHED: {
    fault: "internal",
    http: 500,
    retry: true,
    text: "The sandbox process exited while the program was running; other executions are not affected",
  },
  SANDBOX_UNAVAILABLE: {
    fault: "internal",
    http: 503,
    retry: false,
    text: "The sandbox cannot be started on this machine",
  },
  INTERNAL_BUG: { fault: "internal", http: 500, retry: false, text: "Internal error" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** The only error shape that crosses a boundary: to the guest, the model, the browser or a log line. */
export interface PublicError extends Pick<ErrorDetails, "hint" | "line" | "column" | "frame"> {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: boolean;
  /** Present if the fault is internal; the log has the details under this id. */
  readonly incident?: string;
}

interface ErrorDetails {
  /** True if the request cannot have reached the upstream, so it had no effect. */
  readonly unsent?: boolean;
  readonly cause?: unknown;
  /** The remedy, in one sentence. */
  readonly hint?: string;
  /** The position in the author's source, 1-based. */
  readonly line?: number;
  readonly column?: number;
  readonly frame?: string;
}

export class GloveboxError extends Error {
  override readonly name = "GloveboxError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.details = details;
  }
}

export function isErrorCode(raw: unknown): raw is ErrorCode {
  return typeof raw === "string" && Object.hasOwn(ERRORS, raw);
}

/** Turns anything thrown into an error that may be shown. Never reads `cause` or `stack`. */
export function toPublicError(thrown: unknown, report: (thrown: unknown) => string): PublicError {
  const code: ErrorCode = thrown instanceof GloveboxError ? thrown.code : "INTERNAL_BUG";
  const kind: ErrorKind = ERRORS[code];
  if (thrown instanceof GloveboxError && kind.text === undefined) return describeError(thrown);
  return { code, message: kind.text ?? "Internal error", retry: kind.retry, incident: report(thrown) };
}

/** Includes internal faults: for the command line and the log, never for a guest or a model. */
export function describeError(error: GloveboxError): PublicError {
  const { hint, line, column, frame } = error.details;
  const { retry } = ERRORS[error.code];
  return { code: error.code, message: error.message, retry, ...defined({ hint, line, column, frame }) };
}
