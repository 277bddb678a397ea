/** Step 5 of a crossing: the upstream call itself, ended by its own time limit or by the end of the program. */

import { GloveboxError } from "../domain/index.ts";
import type { Json, Tool } from "../domain/index.ts";

export interface Invocation {
  readonly tool: Tool;
  readonly callMs: number;
  /** Fires when the program has ended: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Settles when the upstream answers, when the time is up or when the program ends, whichever comes first.
 * After the program has ended nothing is sent any more.
 */
export async function invokeWithin(
  { tool, callMs, signal }: Invocation,
  invoke: (signal: AbortSignal) => Promise<Json>,
): Promise<Json> {
  const cancelled = (): GloveboxError =>
    new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool.address} answered`);
  if (signal.aborted) throw cancelled();
  const abort = new AbortController();
  const ended = Promise.withResolvers<never>();
  const stop = (error: GloveboxError): void => {
    abort.abort(error);
    ended.reject(error);
  };
  const cancel = (): void => stop(cancelled());
  const timer = setTimeout(() => {
    const message = `${tool.address} did not answer within ${callMs} ms (callMs)`;
    stop(new GloveboxError("UPSTREAM_TIMEOUT", message, { hint: "Ask for less, or try again later" }));
  }, callMs);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([invoke(abort.signal), ended.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
