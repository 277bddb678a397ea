/** When the calls of an execution started and ended, and the client's trace, by the ledger. For display only. */

import { defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { ExecutionId, Instant, JsonObject } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { SECOND_MS } from "../../timing/index.ts";

export interface CallTime {
  readonly seq: number;
  readonly startedAt: Instant;
  /** Absent while it has no answer. */
  readonly endedAt?: Instant;
}

export interface RecordedTimes {
  readonly times: readonly CallTime[];
  /** The id of the client's trace, if it sent one. */
  readonly trace?: string;
}

interface Lifetime {
  readonly id: ExecutionId;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
}

/** Records are written around the times in the store, perhaps with another clock of the same machine. */
const SLACK_MS = 2 * SECOND_MS;
const MAX_RECORDS = 20_000;

/** Reads the part of the ledger of that time only. Empty if the ledger no longer has it. */
export async function findTimes(
  { id, startedAt, endedAt }: Lifetime,
  { ledger }: { readonly ledger: Pick<Store["ledger"], "search" | "seqAt"> },
): Promise<RecordedTimes> {
  const from = await ledger.seqAt(startedAt - SLACK_MS);
  const before = endedAt === null ? undefined : await ledger.seqAt(endedAt + SLACK_MS);
  const records = await ledger.search({ execution: id, from, limit: MAX_RECORDS, ...defined({ before }) });
  const times = new Map<number, CallTime>();
  let trace: string | undefined;
  for (const { at, action, detail: text } of records.toReversed()) {
    const detail = parseDetail(text);
    const { seq, trace: sent } = detail;
    if (action === "execution.opened" && typeof sent === "string") trace = sent;
    if (typeof seq !== "number") continue;
    const known = times.get(seq);
    if (action === "call.intended") times.set(seq, known ?? { seq, startedAt: at });
    if (action === "call.ended" && known) times.set(seq, { ...known, endedAt: at });
  }
  return { times: [...times.values()].toSorted((a, b) => a.seq - b.seq), ...defined({ trace }) };
}

function parseDetail(text: string): JsonObject {
  const detail = parseJson(text);
  return isJsonObject(detail) ? detail : {};
}
