/** The state of an upstream, as people and models read it. */

import type { ConnectorId, Instant } from "./ids.ts";

/**
 * `failed`: retried automatically after a delay. `suspended`: crashed too often and waits for an operator.
 * `needs-login`: waits for a person to log in.
 */
export type UpstreamState = "idle" | "connecting" | "ready" | "failed" | "needs-login" | "suspended" | "closed";

export type UpstreamTransport = "stdio" | "http" | "sse" | "openapi" | "adapter";

export interface UpstreamStatus {
  readonly name: ConnectorId;
  readonly state: UpstreamState;
  readonly transport: UpstreamTransport;
  /** The MCP revision negotiated at the last connect, such as `2025-11-25` or `2026-07-28`. */
  readonly era?: string;
  readonly tools: number;
  readonly since: Instant;
  /** The number of withheld tools; absent if there are none. */
  readonly withheld?: number;
  /** What failed; with `hint`, present after a failure until the server is ready again. */
  readonly cause?: string;
  readonly hint?: string;
  /** The last lines that a child process wrote to stderr, cleaned. */
  readonly stderr?: readonly string[];
}
