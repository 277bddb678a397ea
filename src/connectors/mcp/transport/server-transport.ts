/** A transport that can also explain why it failed. */

import type { Transport } from "@modelcontextprotocol/client";

import type { UpstreamFailure } from "../../upstream-error.ts";

export interface ServerTransport extends Transport {
  /** What went wrong below the protocol, as far as it is known. */
  failure?(): UpstreamFailure | undefined;
  /** What the server printed, for the operator and never for a model. Absent for a remote server. */
  stderr?(): readonly string[];
  /** Lines on standard output that are not messages. Absent for a remote server. */
  garbage?(): Garbage | undefined;
}

export interface Garbage {
  readonly count: number;
  readonly first: string;
}
