/** Answers whether the gateway can run programs now, and why not. */

import { GloveboxError, describeError, toPublicError } from "../domain/index.ts";
import type { Instant, PublicError } from "../domain/index.ts";
import { cleanText } from "../text/index.ts";
import { SECOND_MS } from "../timing/index.ts";

import type { Gateway, GatewayCheck } from "./gateway.ts";

interface CheckOptions {
  readonly store: { check(): Promise<void> };
  readonly sandbox: {
    state(): { readonly kind: "starting" | "ready" } | { readonly kind: "failed"; readonly error: GloveboxError };
  };
  /** Why the configuration is not in force as it was written. */
  readonly policy: { problem(): unknown };
  readonly report: (thrown: unknown) => string;
  readonly now: () => Instant;
}

/** Anyone on this machine can ask, so checks are not repeated within this time. */
const KEEP_MS = SECOND_MS;

export function createCheck({ store, sandbox, policy, report, now }: CheckOptions): Gateway["check"] {
  const check = async (): Promise<GatewayCheck> => {
    const stored = await store.check().catch((thrown: unknown) => thrown);
    const state = sandbox.state();
    const found = [stored, state.kind === "failed" ? state.error : undefined, policy.problem()];
    const problems = found.flatMap((thrown) => (thrown === undefined ? [] : describe(thrown, report)));
    return { isReady: problems.length === 0 && state.kind === "ready", problems };
  };
  let latest: { readonly at: Instant; readonly answer: Promise<GatewayCheck> } | undefined;
  return () => {
    if (!latest || Math.abs(now() - latest.at) >= KEEP_MS) latest = { at: now(), answer: check() };
    return latest.answer;
  };
}

const MESSAGE_BYTES = 2_000;

/** With the cause that a model does not see, but without paths: users of this machine may read it. */
function describe(thrown: unknown, report: (thrown: unknown) => string): PublicError {
  if (!(thrown instanceof GloveboxError)) return toPublicError(thrown, report);
  const error = describeError(thrown);
  return { ...error, message: cleanText(error.message, { maxBytes: MESSAGE_BYTES, paths: "all" }) };
}
