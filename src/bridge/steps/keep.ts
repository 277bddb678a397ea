/** Steps that keep what happened: in the ledger, the journal, the session's labels and the events of the execution. */

import { defined } from "../../domain/index.ts";
import type { Digest, JsonObject } from "../../domain/index.ts";
import { digestLarge, digestOf } from "../../text/index.ts";

import { startInSlices } from "../crossing.ts";
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

/** The intent is written together with all that the program has seen by then. */
export function recordIntent(crossing: Crossing): Promise<unknown> {
  const { bridge, call, tool, target, verdict } = crossing;
  const { options, recorder } = bridge;
  const { isPlainRead } = verdict;
  crossing.intent = { ...describeIntent(crossing), ...target.noteCall?.(call.args) };
  const durability = isPlainRead ? "committed" : "flushed";
  const written = recorder.record(durability, "call.intended", tool.address, crossing.intent);
  const { journal } = options;
  if (!isPlainRead) return Promise.all([written, journal?.flush()]);
  const seen = journal?.isWritten() === false ? journal.write() : undefined;
  const opening = bridge.opening();
  return (seen ?? opening) ? Promise.all([written, seen, opening]) : written;
}

/** Holds digests instead of values: a record proves what was sent without keeping it. In the order of canonical JSON. */
function describeIntent({ bridge, call, tool, verdict, rawArgs, isSkipped }: Crossing): JsonObject {
  const { decision } = verdict;
  const text = String(rawArgs);
  return defined({
    arguments: digestOf(text),
    decision: decision.kind,
    definition: tool.digest,
    dryRun: isSkipped || undefined,
    effect: tool.effect,
    execution: call.execution,
    flow: decision.flow?.map((source) => ({ ...source })),
    idempotent: tool.idempotent || undefined,
    preview: bridge.options.preview?.(text),
    rule: decision.rule,
    seq: call.seq,
    server: tool.origin.connector,
    under: bridge.under,
  });
}

export function report(crossing: Crossing): void {
  const { bridge, entry, reply } = crossing;
  if (!reply) return;
  crossing.record = bridge.trace.close(entry, reply);
  bridge.emit({ kind: "answered", record: crossing.record });
}

/** With a digest of the result instead of the result, in the order of canonical JSON. Only `recorded()` waits for it. */
export function recordEnd({ bridge, seq, entry, reply, record }: Crossing): Promise<void> | undefined {
  if (!reply) return undefined;
  const { execution, preview } = bridge.options;
  const write = (result?: Digest): void => {
    const detail = defined({
      code: reply.ok ? undefined : reply.error.code,
      dryRun: record.dryRun,
      execution,
      ms: record.ms,
      outcome: record.outcome,
      preview: reply.ok ? preview?.(reply.json) : undefined,
      result,
      seq,
      size: reply.ok ? reply.json.length : undefined,
    });
    void bridge.recorder.record("batched", "call.ended", entry.tool, { ...detail, ...entry.note });
  };
  // The call was made: its record does not depend on the time that is left.
  if (reply.ok) return startInSlices(digestLarge(reply.json), bridge.hostTime.owner, write);
  write();
  return undefined;
}

export function deliverLabels({ arrival, reply, entry }: Crossing): Promise<unknown> | undefined {
  return reply && arrival?.deliver(reply, entry.isSent);
}

export function journal({ bridge, seq, request, record, entry }: Crossing): void {
  if (!request) return;
  const { definition } = entry;
  const labels = bridge.options.flow?.sources() ?? [];
  const kept = defined({ definition, labels: labels.length > 0 ? labels : undefined });
  bridge.journaled.set(seq, { record, request, ...kept });
}
