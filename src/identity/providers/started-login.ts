/** What the gateway remembers of a login while the person is at the provider. */

import { parsePrincipalId } from "../../domain/index.ts";
import type { Instant, PrincipalId } from "../../domain/index.ts";

export interface StartedLogin {
  readonly provider: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Counts as a failed login until it succeeds. */
  readonly attempt: string;
  /** A path of the page. */
  readonly next: string;
  readonly startedAt: Instant;
  /** The session that it replaces. */
  readonly session?: string;
  /** Who must prove again who they are. */
  readonly person?: PrincipalId;
}

/** Returns `undefined` for a damaged one. */
export function parseLogin(raw: Readonly<Record<string, unknown>>): StartedLogin | undefined {
  const { provider, nonce, verifier, attempt, next, startedAt, session, person } = raw;
  if (typeof provider !== "string" || typeof nonce !== "string" || typeof verifier !== "string") return undefined;
  if (typeof attempt !== "string" || typeof next !== "string" || typeof startedAt !== "number") return undefined;
  const id = parsePrincipalId(person);
  if (person !== undefined && id === undefined) return undefined;
  return {
    provider,
    nonce,
    verifier,
    attempt,
    next,
    startedAt,
    ...(typeof session === "string" && { session }),
    ...(id !== undefined && { person: id }),
  };
}
