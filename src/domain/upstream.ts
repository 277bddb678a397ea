/** The state of a server behind us, as people and models read it. */

import type { ConnectorId, Instant } from "./ids.ts";

/**
 * `failed` is tried again by itself after a pause; `suspended` crashed too often and waits for a person, `needs-login`
 * for a person to log in.
 */
export type UpstreamState = "idle" | "connecting" | "ready" | "failed" | "needs-login" | "suspended" | "closed";

export type UpstreamTransport = "stdio" | "http" | "sse" | "openapi" | "adapter";

export interface UpstreamStatus {
  readonly name: ConnectorId;
  readonly state: UpstreamState;
  readonly transport: UpstreamTransport;
  /** The revision of MCP that was agreed on at the last connect, such as `2025-11-25` or `2026-07-28`. */
  readonly era?: string;
  readonly tools: number;
  readonly since: Instant;
  /** How many listed tools wait for an operator; left out when none does. */
  readonly withheld?: number;
  /** What went wrong and what to do next; present after a failure until the server is ready again. */
  readonly cause?: string;
  readonly hint?: string;
  /** The last lines that a child server wrote to its standard error, cleaned. */
  readonly stderr?: readonly string[];
}
