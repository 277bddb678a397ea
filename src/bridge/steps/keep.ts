/** Steps that keep what happened: in the ledger, the journal, the session's labels and the events of the execution. */

import { digestOf } from "../../text/index.ts";

import type { Crossing } from "../crossing.ts";
import { describeIntent, describeOutcome } from "../recorder.ts";

/** Its own records name the host, which is more than this one could say. */
const FETCH = "glovebox.fetch";
const ADDRESS_CHARS = 260;

export function digestRequest(crossing: Crossing): void {
  if (!crossing.bridge.options.journal) return;
  crossing.request = digestOf(`${toText(crossing.rawAddress)}\n${toText(crossing.rawArgs)}`);
}

/** The sandbox hands over strings only. */
function toText(raw: unknown): string {
  return typeof raw === "string" ? raw : "";
}

/** Nothing waits for the record but `recorded()`, which rejects when it was lost. */
export function noticeTokens({ bridge, rawAddress, rawArgs }: Crossing): void {
  const tool = toText(rawAddress).slice(0, ADDRESS_CHARS);
  if (tool === FETCH) return;
  const notice = bridge.options.noticeTokens?.(toText(rawArgs), tool);
  if (!notice) return;
  notice.catch(() => undefined);
  bridge.notices.push(notice);
}

export function markLabels(crossing: Crossing): void {
  crossing.arrival = crossing.bridge.options.flow?.arrive();
}

/** The intent is written together with all that the program has seen by then. */
export async function recordIntent(crossing: Crossing): Promise<void> {
  const { bridge, call, tool, target, rawArgs, isSkipped } = crossing;
  const { decision, isPlainRead } = crossing.verdict;
  const { options, recorder } = bridge;
  const described = describeIntent(options, call, { tool, decision, rawArgs, isSkipped });
  crossing.intent = { ...described, ...target.noteCall?.(call.args) };
  const written = recorder.record(
    isPlainRead ? "committed" : "flushed",
    "call.intended",
    tool.address,
    crossing.intent,
  );
  const seen = isPlainRead ? options.journal?.write() : options.journal?.flush();
  await Promise.all([written, seen, isPlainRead && options.opened()]);
}

export function report(crossing: Crossing): void {
  const { bridge, entry, reply } = crossing;
  if (!reply) return;
  crossing.record = entry.close(reply);
  bridge.emit({ kind: "answered", record: crossing.record });
}

/** Nothing waits for the record but `recorded()`. */
export function recordEnd({ bridge, entry, record, reply }: Crossing): void {
  if (!reply) return;
  const detail = { ...describeOutcome(bridge.options, record, reply), ...entry.note };
  void bridge.recorder.record("batched", "call.ended", entry.tool, detail);
}

export function deliverLabels({ arrival, reply, entry }: Crossing): Promise<void> | undefined {
  return reply && arrival?.deliver(reply, entry.isSent);
}

export function journal({ bridge, seq, request }: Crossing): void {
  const call = bridge.trace.find(seq);
  if (!call || !request) return;
  const labels = bridge.options.flow?.sources() ?? [];
  bridge.journaled.set(seq, { ...call, request, ...(labels.length > 0 && { labels }) });
}
