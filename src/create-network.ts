/** What a program may do with the network: the operator's policy and the request's own, whichever is stricter. */

import type { Settings } from "./config/index.ts";
import type { NetworkPolicy } from "./domain/index.ts";
import type { Egress } from "./egress/index.ts";
import type { CheckRequest, ExecutionRequest, SendRequest } from "./execution/index.ts";

/** How long a response may pause. The time of the whole request is the limit of a call. */
const IDLE_MS = 15_000;

type Asked = Pick<ExecutionRequest, "limits" | "networkPolicy">;

export interface ProgramNetwork {
  /** Whether `fetch` exists; without a request, whether any program may have it. */
  has(request?: Pick<ExecutionRequest, "networkPolicy">): boolean;
  /** What the `fetch` of one execution leads to. */
  sendFor(request: Asked): SendRequest;
  /** Whether it might, for a `fetch` that is only rehearsed. */
  checkFor(request: Asked): CheckRequest;
}

/** It decides nothing: policies go along with each request, and egress holds every one of them. */
export function createProgramNetwork({ sandbox }: Settings, egress: Egress): ProgramNetwork {
  const policiesOf = (asked?: NetworkPolicy): readonly NetworkPolicy[] =>
    asked ? [sandbox.networkPolicy, asked] : [sandbox.networkPolicy];
  return {
    has: (request) => policiesOf(request?.networkPolicy).every(({ mode }) => mode !== "blocked"),
    sendFor:
      ({ limits, networkPolicy }) =>
      (request) =>
        egress.fetchFor(policiesOf(networkPolicy), request, {
          maxBytes: limits.resultBytes,
          totalMs: limits.callMs,
          idleMs: IDLE_MS,
        }),
    checkFor:
      ({ networkPolicy }) =>
      (request) =>
        egress.checkFor(policiesOf(networkPolicy), request),
  };
}
