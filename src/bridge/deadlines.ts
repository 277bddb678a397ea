/** The calls of one execution that wait for an upstream: one timer and one listener end all of them in time. */

import { GloveboxError } from "../domain/index.ts";
import type { Limits } from "../domain/index.ts";

/** A call that waits. */
export interface WaitingCall {
  readonly tool: string;
  readonly until: number;
  /** Its signal fires when nothing waits for the call any more. */
  readonly abort: AbortController;
  readonly reject: (error: GloveboxError) => void;
}

export type Deadlines = ReturnType<typeof createDeadlines>;

/** Timers may fire this much early. */
const EARLY_MS = 1;

/** Ends each call after `callMs`, and all of them when `signal` fires, because the program has ended. */
export function createDeadlines({
  limits: { callMs },
  signal,
}: {
  readonly limits: Pick<Limits, "callMs">;
  readonly signal: AbortSignal;
}) {
  /** In the order of their deadlines, because all have the same time. */
  const waiting = new Set<WaitingCall>();
  let timer: NodeJS.Timeout | undefined;

  const stop = (call: WaitingCall, error: GloveboxError): void => {
    waiting.delete(call);
    call.abort.abort(error);
    call.reject(error);
  };
  const expire = (): void => {
    timer = undefined;
    const now = performance.now() + EARLY_MS;
    for (const call of waiting) {
      if (call.until > now) return arm(call.until - now);
      stop(call, lateError(call, callMs));
    }
  };
  const arm = (ms: number): void => void (timer = setTimeout(expire, ms));
  signal.addEventListener(
    "abort",
    () => {
      clearTimeout(timer);
      timer = undefined;
      for (const call of waiting) stop(call, cancelledError(call));
    },
    { once: true },
  );
  return {
    /** `reject` is called once if the call is ended. Throws once the program has ended. */
    open(tool: string, reject: WaitingCall["reject"]): WaitingCall {
      const call = { tool, until: performance.now() + callMs, abort: new AbortController(), reject };
      if (signal.aborted) throw cancelledError(call);
      waiting.add(call);
      // The timer stays while calls come and go, but keeps the process alive only while one waits.
      if (timer) timer.ref();
      else arm(callMs);
      return call;
    },
    /** The call was answered; false if it was ended before. */
    close(call: WaitingCall): boolean {
      if (!waiting.delete(call)) return false;
      if (waiting.size === 0) timer?.unref();
      return true;
    },
  };
}

function cancelledError({ tool }: Pick<WaitingCall, "tool">): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool} answered`);
}

function lateError({ tool }: WaitingCall, callMs: number): GloveboxError {
  const message = `${tool} did not answer within ${callMs} ms (callMs)`;
  return new GloveboxError("UPSTREAM_TIMEOUT", message, { hint: "Ask for less, or try again later" });
}
