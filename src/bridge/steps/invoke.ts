/** Steps that make the call, or answer it in a dry run. */

import { defined } from "../../domain/index.ts";
import type { CallProgress, Decision, JsonObject } from "../../domain/index.ts";

import type { CallAnswer, Crossing } from "../crossing.ts";

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

/** Settles when the upstream answers, after `callMs`, or when the program ends, whichever comes first. */
export function invoke(crossing: Crossing): Promise<void> {
  const { bridge, target, entry } = crossing;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  bridge.emit({ kind: "called", seq: crossing.seq, tool: target.tool.address });
  const waiting = bridge.deadlines.open(target.tool.address, reject);
  const take = ({ value, attachments }: CallAnswer): void => {
    if (!bridge.deadlines.close(waiting)) return;
    crossing.value = value;
    crossing.attachments = attachments;
    if (target.noteResult) entry.note = target.noteResult(value);
    resolve();
  };
  const fail = (thrown: unknown): void => {
    if (bridge.deadlines.close(waiting)) reject(thrown);
  };
  try {
    makeCall(crossing, waiting.abort.signal).then(take, fail);
  } catch (thrown) {
    fail(thrown);
  }
  return promise;
}

function makeCall(crossing: Crossing, signal: AbortSignal): Promise<CallAnswer> {
  const { bridge, seq, call, entry, target, trace } = crossing;
  const { tool, answer, judge } = target;
  const { options, emit, hostTime } = bridge;
  const { spend } = hostTime;
  const onSent = (): void => void (entry.isSent = true);
  if (answer) {
    const decide = (args: JsonObject): Decision => options.decide({ ...call, args }, judge?.(args) ?? tool);
    return answer(call.args, { signal, onSent, spend, decide }).then((value) => ({ value, attachments: [] }));
  }
  const onProgress = (progress: CallProgress): void => emit({ kind: "progress", seq, tool: tool.address, progress });
  return options.invoke(tool, call.args, { signal, onProgress, onSent, spend, ...defined({ trace }) });
}
