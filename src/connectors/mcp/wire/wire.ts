/** A transport that can also say how it fared: what the connector needs to explain a failure. */

import type { Transport } from "@modelcontextprotocol/client";

import type { ErrorCode } from "../../../domain/index.ts";

/** Why a connection ended or never began. */
export interface Trouble {
  readonly code: ErrorCode;
  /** May be shown to a model: exit codes and facts, no output of the server. */
  readonly cause: string;
  readonly hint: string;
  /** `crash`: the process ended by itself. `misunderstood`: the server is there and made nothing of what it was sent. */
  readonly kind?: "crash" | "misunderstood";
}

export interface Wire extends Transport {
  /** What went wrong underneath the protocol, as far as it is known by now. */
  trouble(): Trouble | undefined;
  /** What the server printed and the operator, not the model, may read; empty for a remote server. */
  stderr(): readonly string[];
  /** The first line on standard output that was no message, and how many there were. */
  garbage(): Garbage | undefined;
}

export interface Garbage {
  readonly count: number;
  readonly first: string;
}
