/** Steps that make the call, or answer it in a dry run. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { CallProgress, Decision, JsonObject } from "../../domain/index.ts";

import type { BridgeOptions, Crossing } from "../crossing.ts";

export function skipInDryRun(crossing: Crossing): void {
  const { bridge, isSkipped, call, verdict, target } = crossing;
  if (isSkipped && bridge.dryRun) crossing.value = bridge.dryRun.answer(call, verdict.decision, target);
}

/** Reading what the product itself offers is free. */
export function charge({ bridge, target }: Crossing): Promise<unknown> | undefined {
  return !target.answer || target.judge ? bridge.options.take?.(target.tool) : undefined;
}

export function findTrace(crossing: Crossing): void {
  if (!crossing.target.answer) crossing.trace = crossing.bridge.options.traceOf?.(crossing.seq);
}

export async function invoke(crossing: Crossing): Promise<void> {
  const { bridge, seq, call, entry, target, trace } = crossing;
  const { tool, answer, judge } = target;
  const { options, emit } = bridge;
  const { spend } = bridge.hostTime;
  emit({ kind: "called", seq, tool: tool.address });
  const decideAgain = (args: JsonObject): Decision => options.decide({ ...call, args }, judge?.(args) ?? tool);
  const onProgress = (progress: CallProgress): void => emit({ kind: "progress", seq, tool: tool.address, progress });
  const onSent = (): void => void (entry.isSent = true);
  if (answer) {
    crossing.value = await within(options, tool.address, (signal) =>
      answer(call.args, { signal, onSent, spend, decide: decideAgain }),
    );
    if (target.noteResult) entry.note = target.noteResult(crossing.value);
    return;
  }
  const answered = await within(options, tool.address, (signal) =>
    options.invoke(tool, call.args, { signal, onProgress, onSent, spend, ...defined({ trace }) }),
  );
  crossing.value = answered.value;
  crossing.attachments = answered.attachments;
}

/**
 * Settles when the work does, after `callMs`, or when the program ends, whichever comes first. Once the program has
 * ended, the work is not started.
 */
async function within<T>(
  { limits: { callMs }, signal }: BridgeOptions,
  tool: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cancelled = (): GloveboxError =>
    new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool} answered`);
  if (signal.aborted) throw cancelled();
  const abort = new AbortController();
  const ended = Promise.withResolvers<never>();
  const stop = (error: GloveboxError): void => {
    abort.abort(error);
    ended.reject(error);
  };
  const cancel = (): void => stop(cancelled());
  const timer = setTimeout(() => {
    const message = `${tool} did not answer within ${callMs} ms (callMs)`;
    stop(new GloveboxError("UPSTREAM_TIMEOUT", message, { hint: "Ask for less, or try again later" }));
  }, callMs);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([work(abort.signal), ended.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
