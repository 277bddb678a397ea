/** The network as programs reach it: the operator's policies and the request's own are passed to egress, which enforces them. */

import type { Limits, NetworkPolicy } from "../domain/index.ts";
import type { Egress, GuestRequest } from "../egress/index.ts";

import type { FetchPowers } from "./create-fetch.ts";

/** How long a response may pause. The whole request is limited by `callMs`. */
const IDLE_MS = 15_000;

export interface NetworkOptions {
  readonly egress: Pick<Egress, "fetchFor" | "checkFor">;
  /** The policy of all programs (`sandbox.networkPolicy`). */
  readonly policy: NetworkPolicy;
  /** The policy of the whole gateway (`egress.networkPolicy`). */
  readonly ceiling?: NetworkPolicy | undefined;
}

/** The part of a request that concerns the network. */
interface NetworkRequest {
  readonly limits: Pick<Limits, "resultBytes" | "callMs">;
  readonly networkPolicy?: NetworkPolicy;
  /** Of a skill, in place of the policy of programs: a reviewer granted it. The ceiling stays. */
  readonly granted?: NetworkPolicy;
}

export type ProgramNetwork = ReturnType<typeof createProgramNetwork>;

export function createProgramNetwork({ egress, policy, ceiling }: NetworkOptions) {
  const policiesOf = ({ networkPolicy: own, granted = policy }: NetworkRequest): readonly NetworkPolicy[] =>
    own ? [granted, own] : [granted];
  return {
    /** True when a program has `fetch`; without a request, true when any program may have it. */
    has: (request?: Pick<NetworkRequest, "networkPolicy">): boolean =>
      [policy, ceiling, request?.networkPolicy].every((one) => one?.mode !== "blocked"),
    /** Sends the requests of one execution. */
    sendFor:
      (own: NetworkRequest, lender?: GuestRequest["lender"]): FetchPowers["send"] =>
      (request) =>
        egress.fetchFor(policiesOf(own), lender ? { ...request, lender } : request, {
          maxBytes: own.limits.resultBytes,
          totalMs: own.limits.callMs,
          idleMs: IDLE_MS,
        }),
    /** Checks the requests of one dry run. */
    checkFor:
      (own: NetworkRequest): FetchPowers["check"] =>
      (request) =>
        egress.checkFor(policiesOf(own), request),
  };
}
