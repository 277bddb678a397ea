/** Steps that keep what happened: in the ledger, the journal, the session's labels and the events of the execution. */

import { defined } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";

import type { Crossing } from "../crossing.ts";

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
  const { bridge, call, tool, target, verdict } = crossing;
  const { options, recorder } = bridge;
  const { isPlainRead } = verdict;
  crossing.intent = { ...describeIntent(crossing), ...target.noteCall?.(call.args) };
  const durability = isPlainRead ? "committed" : "flushed";
  const written = recorder.record(durability, "call.intended", tool.address, crossing.intent);
  const seen = isPlainRead ? options.journal?.write() : options.journal?.flush();
  await Promise.all([written, seen, isPlainRead && options.opened()]);
}

/** Holds digests instead of values: a record proves what was sent without keeping it. */
function describeIntent({ bridge, call, tool, verdict, rawArgs, isSkipped }: Crossing): JsonObject {
  const { decision } = verdict;
  const text = String(rawArgs);
  return {
    execution: call.execution,
    seq: call.seq,
    server: tool.origin.connector,
    effect: tool.effect,
    definition: tool.digest,
    arguments: digestOf(text),
    decision: decision.kind,
    rule: decision.rule,
    ...defined({
      idempotent: tool.idempotent || undefined,
      preview: bridge.options.preview?.(text),
      dryRun: isSkipped || undefined,
      flow: decision.flow?.map((source) => ({ ...source })),
    }),
  };
}

export function report({ bridge, entry, reply }: Crossing): void {
  if (reply) bridge.emit({ kind: "answered", record: bridge.trace.close(entry, reply) });
}

/** With a digest of the result instead of the result. Nothing waits for the record but `recorded()`. */
export function recordEnd({ bridge, seq, entry, reply }: Crossing): void {
  const record = bridge.trace.find(seq)?.record;
  if (!reply || !record) return;
  const { execution, preview } = bridge.options;
  const { outcome, ms, dryRun } = record;
  const answer = reply.ok
    ? { result: digestOf(reply.json), ...defined({ preview: preview?.(reply.json) }) }
    : { code: reply.error.code };
  const detail = { execution, seq, outcome, ms, ...defined({ dryRun }), ...answer, ...entry.note };
  void bridge.recorder.record("batched", "call.ended", entry.tool, detail);
}

export function deliverLabels({ arrival, reply, entry }: Crossing): Promise<void> | undefined {
  return reply && arrival?.deliver(reply, entry.isSent);
}

export function journal({ bridge, seq, request }: Crossing): void {
  const call = bridge.trace.find(seq);
  if (!call || !request) return;
  const labels = bridge.options.flow?.sources() ?? [];
  bridge.journaled.set(seq, { ...call, request, ...defined({ labels: labels.length > 0 ? labels : undefined }) });
}
