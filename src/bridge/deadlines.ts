/** The calls of one execution that wait for an upstream: one timer and one listener end all of them in time. */

import { GloveboxError } from "../domain/index.ts";
import type { Limits } from "../domain/index.ts";

/** A call that waits. */
export interface WaitingCall {
  readonly tool: string;
  until: number;
  /** Its signal fires when nothing waits for the call any more. */
  readonly abort: AbortController;
  readonly reject: (error: GloveboxError) => void;
}

export type Deadlines = ReturnType<typeof createDeadlines>;

interface DeadlineOptions {
  readonly limits: Pick<Limits, "callMs">;
  readonly signal: AbortSignal;
}

/** Timers may fire this much early. */
const EARLY_MS = 1;

/** Ends each call after `callMs`, and all of them when `signal` fires, because the program has ended. */
export function createDeadlines({ limits: { callMs }, signal }: DeadlineOptions) {
  /** In the order of their deadlines, because all have the same time. */
  const waiting = new Set<WaitingCall>();
  /** Calls whose upstream waits for a person. That wait ends with the program, too, and then ends its call. */
  const held = new Set<WaitingCall>();
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
  const endAll = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const call of waiting) stop(call, cancelledError(call));
  };
  signal.addEventListener("abort", endAll, { once: true });
  const add = (call: WaitingCall): void => {
    waiting.add(call);
    // The timer stays while calls come and go, but keeps the process alive only while one waits.
    if (timer) timer.ref();
    else arm(callMs);
  };
  const remove = (call: WaitingCall): boolean => {
    if (!waiting.delete(call)) return false;
    if (waiting.size === 0) timer?.unref();
    return true;
  };
  return {
    /** `reject` is called once if the call is ended. Throws once the program has ended. */
    open(tool: string, reject: WaitingCall["reject"]): WaitingCall {
      const call = { tool, until: performance.now() + callMs, abort: new AbortController(), reject };
      if (signal.aborted) throw cancelledError(call);
      add(call);
      return call;
    },
    /** The upstream waits for a person: the time of the call starts again after `proceed`. */
    hold(call: WaitingCall): void {
      if (remove(call)) held.add(call);
    },
    proceed(call: WaitingCall): void {
      if (!held.delete(call)) return;
      if (signal.aborted) return stop(call, cancelledError(call));
      call.until = performance.now() + callMs;
      add(call);
    },
    /** The call was answered; false if it was ended before. */
    close: (call: WaitingCall): boolean => held.delete(call) || remove(call),
  };
}

function cancelledError({ tool }: Pick<WaitingCall, "tool">): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool} answered`);
}

function lateError({ tool }: WaitingCall, callMs: number): GloveboxError {
  const message = `${tool} did not answer within ${callMs} ms (callMs)`;
  return new GloveboxError("UPSTREAM_TIMEOUT", message, { hint: "Ask for less, or try again later" });
}
