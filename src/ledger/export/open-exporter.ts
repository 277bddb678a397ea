/**
 * Sends every record to the configured sinks as the ledger grows. Reads from the store, so a slow or unreachable sink
 * does not delay writers. The progress of each sink is in the store, so a restart skips nothing.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { cleanText } from "../../text/index.ts";
import { MINUTE_MS, SECOND_MS, backoffMs } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Instant, JsonObject } from "../../domain/index.ts";
import type { ExportRow, Store } from "../../store/index.ts";

import { toJsonRecord } from "../record.ts";

export interface Sink {
  /** Identifies the sink across restarts: its cursor is stored under this id. Contains no secret. */
  readonly id: string;
  /** Resolves when the sink has accepted all records. A record may be sent again after a crash. */
  send(records: readonly JsonObject[], signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

export interface LedgerExporterOptions {
  readonly store: Pick<Store, "ledger" | "exports">;
  readonly sinks: readonly Sink[];
  /** Identifies this process among those that share the store. */
  readonly holder: string;
  /** Returns true if the process of this holder has certainly ended. */
  readonly hasEnded: (holder: string) => boolean;
  readonly now: () => Instant;
  readonly times?: Readonly<typeof TIMES>;
}

/** Closing it tries briefly to send the rest; what is left is sent after the next start. */
export interface LedgerExporter extends AsyncDisposable {
  /** Call when there are new records. Returns at once. */
  wake(): void;
}

const TIMES = {
  /** How often to look for records of other processes. */
  pollMs: SECOND_MS,
  firstPauseMs: 250,
  longestPauseMs: MINUTE_MS,
  /** How long one batch may take. */
  sendMs: 30 * SECOND_MS,
  /** How long closing waits for the sinks. */
  closeMs: 2 * SECOND_MS,
};
const BATCH = 500;
const FAILURE_BYTES = 300;

export function openLedgerExporter(options: LedgerExporterOptions): LedgerExporter {
  const times = options.times ?? TIMES;
  const ending = new AbortController();
  const ended = new AbortController();
  const followers = options.sinks.map((sink) =>
    follow(sink, { ...options, times, ending: ending.signal, ended: ended.signal }),
  );
  return {
    wake: () => followers.forEach(({ wake }) => wake()),
    async [Symbol.asyncDispose]() {
      ending.abort();
      const late = setTimeout(() => ended.abort(), times.closeMs);
      await Promise.all(followers.map(({ done }) => done));
      clearTimeout(late);
      await release(options);
      await Promise.allSettled(options.sinks.map(async (sink) => sink.close?.()));
    },
  };
}

/** Releases the leases so that the next process need not wait. If the store is unavailable, they expire. */
async function release({ store, sinks, holder }: LedgerExporterOptions): Promise<void> {
  const held = (await store.exports.list().catch(() => [])).map(({ id }) => id);
  const own = sinks.filter(({ id }) => held.includes(id));
  await Promise.all(own.map(({ id }) => store.exports.release({ id, holder }).catch(() => undefined)));
}

interface FollowerOptions extends Required<LedgerExporterOptions> {
  /** Fires when only the records written so far are still to be sent. */
  readonly ending: AbortSignal;
  /** Fires when sending stops. */
  readonly ended: AbortSignal;
}

function follow(sink: Sink, options: FollowerOptions): { readonly wake: () => void; readonly done: Promise<void> } {
  const { times, ending, ended } = options;
  let wake: () => void = () => undefined;
  const rest = async (ms: number, isWoken: boolean): Promise<void> => {
    const woken = new AbortController();
    if (isWoken) wake = () => woken.abort();
    await sleep(ms, undefined, { signal: AbortSignal.any([ending, woken.signal]), ref: false }).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    for (let failures = 0; !ended.aborted;) {
      const outcome = await sendSome(sink, options);
      failures = outcome === "failed" ? failures + 1 : 0;
      if (outcome === "sent") continue;
      if (ending.aborted) return;
      const pauseMs = backoffMs(failures, { firstMs: times.firstPauseMs, longestMs: times.longestPauseMs });
      await (outcome === "failed" ? rest(pauseMs, false) : rest(times.pollMs, true));
    }
  };
  return { wake: () => wake(), done: run() };
}

/** Claims the lease only if there is something to send, so that an idle gateway writes nothing. */
async function sendSome(sink: Sink, options: FollowerOptions): Promise<"sent" | "none" | "failed"> {
  const { store, now, times } = options;
  let row: ExportRow | undefined;
  try {
    const cursor = (await store.exports.list()).find(({ id }) => id === sink.id)?.cursor ?? 0;
    const upTo = (await store.ledger.last())?.seq ?? 0;
    if (upTo <= cursor) return "none";
    row = await claim(sink.id, options);
    if (!row) return "none";
    // The claim was flushed, and all records before it with it. A power cut may undo later records.
    const limit = Math.min(BATCH, upTo - row.cursor);
    const records = await store.ledger.read({ from: row.cursor + 1, limit });
    const last = records.at(-1);
    if (!last) return "none";
    await sink.send(records.map(toJsonRecord), AbortSignal.any([options.ended, AbortSignal.timeout(times.sendMs)]));
    await store.exports.note({ id: sink.id, cursor: last.seq, sentAt: now(), failedAt: null, failure: null });
    return "sent";
  } catch (thrown) {
    // If the store is unavailable too, the next attempt reports it.
    if (row) await store.exports.note({ ...row, failedAt: now(), failure: describe(thrown) }).catch(() => undefined);
    return "failed";
  }
}

/** Takes over the lease of a process that was killed without waiting for the lease to expire. */
async function claim(
  id: string,
  { store, holder, hasEnded, now, times }: FollowerOptions,
): Promise<ExportRow | undefined> {
  const ask = (): Promise<ExportRow | undefined> =>
    store.exports.claim({ id, holder, now: now(), until: now() + times.sendMs * 2 });
  const row = await ask();
  if (row) return row;
  const other = await store.exports.holder(id);
  if (other === undefined || !hasEnded(other)) return undefined;
  await store.exports.release({ id, holder: other });
  return ask();
}

function describe(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : "unknown";
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : "";
  const code = thrown instanceof GloveboxError ? ` [${thrown.code}]` : "";
  return cleanText(`${text}${cause}${code}`, { maxBytes: FAILURE_BYTES }).replaceAll(/\s+/g, " ");
}
