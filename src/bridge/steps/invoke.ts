/** Steps that make the call, or answer it in a dry run. */

import { defined } from "../../domain/index.ts";
import type { CallProgress, Decision, JsonObject } from "../../domain/index.ts";

import type { CallAnswer, Crossing, InvokeOptions } from "../crossing.ts";
import type { WaitingCall } from "../deadlines.ts";
import { callSkill } from "./call-skill.ts";

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
  const over = new AbortController();
  const take = ({ value, attachments }: CallAnswer): void => {
    over.abort();
    if (!bridge.deadlines.close(waiting)) return;
    crossing.value = value;
    crossing.attachments = attachments;
    if (target.noteResult) entry.note = target.noteResult(value);
    resolve();
  };
  const fail = (thrown: unknown): void => {
    over.abort();
    if (bridge.deadlines.close(waiting)) reject(thrown);
  };
  try {
    makeCall(crossing, waiting, askPerson(crossing, { waiting, fail, over: over.signal })).then(take, fail);
  } catch (thrown) {
    fail(thrown);
  }
  return promise;
}

/**
 * Lets the upstream ask the person behind the call. Meanwhile the call has no time limit and gives its slot to others.
 * When the program is suspended, the call is given up: a resumed program makes it again. `over` fires when the call ends.
 */
function askPerson(
  { bridge, call, tool, arrival }: Crossing,
  {
    waiting,
    fail,
    over,
  }: { readonly waiting: WaitingCall; readonly fail: (thrown: unknown) => void; readonly over: AbortSignal },
): Pick<InvokeOptions, "askInput"> {
  const { options, deadlines, slots } = bridge;
  const { askInput: ask } = options;
  if (!ask) return {};
  return {
    askInput: async (question, canRepeat) => {
      deadlines.hold(waiting);
      arrival?.settle();
      slots.leave();
      try {
        return await ask(call, tool, question, { canRepeat, over });
      } catch (thrown) {
        fail(thrown);
        waiting.abort.abort(thrown);
        throw thrown;
      } finally {
        await slots.enter();
        deadlines.proceed(waiting);
      }
    },
  };
}

function makeCall(
  crossing: Crossing,
  waiting: WaitingCall,
  asking: Pick<InvokeOptions, "askInput">,
): Promise<CallAnswer> {
  const { signal } = waiting.abort;
  const { bridge, seq, call, entry, target, trace } = crossing;
  const { tool, answer, judge } = target;
  const { options, emit, hostTime } = bridge;
  const { spend } = hostTime;
  const onSent = (): void => void (entry.isSent = true);
  if (answer) {
    const decide = (args: JsonObject): Decision => options.decide({ ...call, args }, judge?.(args) ?? tool);
    return answer(call.args, { signal, onSent, spend, decide }).then((value) => ({ value, attachments: [] }));
  }
  if (tool.origin.kind === "skill") return callSkill(crossing, waiting);
  const onProgress = (progress: CallProgress): void => emit({ kind: "progress", seq, tool: tool.address, progress });
  return options.invoke(tool, call.args, { ...asking, signal, onProgress, onSent, spend, ...defined({ trace }) });
}
