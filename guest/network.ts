/** What a program has of the network: a `fetch` that asks the host, or one that says why there is none. */

import type { EncodeLimits } from "./codec.ts";
import { ToolError } from "./errors.ts";
import { RealPromise, defineProperty } from "./intrinsics.ts";
import { createTimers } from "./timers.ts";
import { createStub } from "./tools.ts";
import type { Send } from "./tools.ts";
import { AbortController, AbortSignal, Headers, createFetch, createTimeout } from "./web/index.ts";

/** The globals of a program whose network policy allows something. The host decides about each request. */
export function createNetwork(send: Send, limits: EncodeLimits): Readonly<Record<string, unknown>> {
  const { setTimeout } = createTimers(send);
  const timeout = createTimeout(setTimeout as Parameters<typeof createTimeout>[0]);
  defineProperty(AbortSignal, "timeout", { value: timeout, writable: true, enumerable: false, configurable: true });
  return { fetch: createFetch(createStub("glovebox.fetch", send, limits)), Headers, AbortController, AbortSignal };
}

/** The `fetch` of every other program. */
export function refuseNetwork(): Promise<never> {
  const message = "The sandbox has no network";
  const hint = "Call a tool of an upstream instead, or ask the operator to allow the host in sandbox.networkPolicy";
  return new RealPromise((_, reject) => reject(new ToolError("EGRESS_DENIED", message, false, hint)));
}
