/** What was used, from the records of the ledger: counts, times, tools, and what stayed in the gateway. */

import { setImmediate } from "node:timers/promises";

import type { Instant, JsonObject } from "../domain/index.ts";
import type { Gateway, LedgerLine } from "./gateway.ts";

export interface Usage {
  readonly since: Instant;
  readonly until: Instant;
  /** True if there were more records than are read: then `since` is the oldest of them. */
  readonly isCut: boolean;
  readonly totals: UsageSums;
  /** Of equal length, oldest first. */
  readonly buckets: readonly (UsageSums & { readonly at: Instant })[];
  /** Those with the most calls. */
  readonly tools: readonly {
    readonly tool: string;
    readonly calls: number;
    readonly errors: number;
    readonly p95Ms: number;
  }[];
  readonly toolCount: number;
  readonly anomalies: readonly {
    readonly seq: number;
    readonly at: Instant;
    readonly kind: string;
    readonly subject: string;
    readonly detail: JsonObject;
  }[];
}

interface UsageSums {
  readonly executions: number;
  /** Of them; a cancelled one is none. */
  readonly failed: number;
  readonly calls: number;
  readonly callErrors: number;
  /** Calls that waited for a person. */
  readonly asked: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Characters of the results that programs got, and of what was returned to clients. */
  readonly readCharacters: number;
  readonly returnedCharacters: number;
}

interface UsageQuery {
  readonly since: Instant;
  readonly until: Instant;
  readonly buckets: number;
}

const PAGE = 2_000;
const MAX_RECORDS = 200_000;
const MAX_TOOLS = 12;
const MAX_ANOMALIES = 20;

/** Reads the newest records first, in slices. */
export async function sumUsage(records: Gateway["records"], { since, until, buckets }: UsageQuery): Promise<Usage> {
  const widthMs = Math.max(1, Math.ceil((until - since) / buckets));
  const parts = Array.from({ length: buckets }, createSums);
  const whole = createSums();
  const tools = new Map<string, ReturnType<typeof createTool>>();
  const anomalies: Usage["anomalies"][number][] = [];
  let before: number | undefined;
  let [read, oldest] = [0, since];
  for (;;) {
    const page = await records({ limit: PAGE, since, until, ...(before !== undefined && { before }) });
    for (const record of page) {
      const index = Math.min(buckets - 1, Math.floor((record.at - since) / widthMs));
      for (const sums of [whole, parts[index]]) sums?.add(record);
      if (record.action === "call.ended") toolOf(tools, record.subject).add(record.detail);
      if (record.action === "anomaly.seen" && anomalies.length < MAX_ANOMALIES) anomalies.push(toAnomaly(record));
    }
    read += page.length;
    const last = page.at(-1);
    if (last && page.length === PAGE && read >= MAX_RECORDS) oldest = last.at;
    if (!last || page.length < PAGE || read >= MAX_RECORDS) break;
    before = last.seq;
    await setImmediate(); // other requests are answered between two pages
  }
  const ranked = [...tools].map(([tool, sums]) => ({ tool, ...sums.get() })).toSorted((a, b) => b.calls - a.calls);
  return {
    since: oldest,
    until,
    isCut: oldest !== since,
    totals: whole.get(),
    buckets: parts.map((sums, index) => ({ at: since + index * widthMs, ...sums.get() })),
    tools: ranked.slice(0, MAX_TOOLS),
    toolCount: ranked.length,
    anomalies,
  };
}

function createSums() {
  const times: number[] = [];
  const counts = {
    executions: 0,
    failed: 0,
    calls: 0,
    callErrors: 0,
    asked: 0,
    readCharacters: 0,
    returnedCharacters: 0,
  };
  return {
    add({ action, detail }: Pick<LedgerLine, "action" | "detail">): void {
      if (action === "execution.closed") {
        counts.executions += 1;
        counts.failed += detail["state"] === "failed" ? 1 : 0;
        counts.returnedCharacters += numberOf(detail["output"]);
        times.push(numberOf(detail["wallMs"]));
      } else if (action === "call.ended") {
        counts.calls += 1;
        counts.callErrors += detail["outcome"] === "error" || detail["outcome"] === "unknown" ? 1 : 0;
        counts.readCharacters += numberOf(detail["size"]);
      } else if (action === "approval.requested") counts.asked += 1;
    },
    get: (): UsageSums => ({ ...counts, p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) }),
  };
}

function createTool() {
  const times: number[] = [];
  let [calls, errors] = [0, 0];
  return {
    add(detail: JsonObject): void {
      calls += 1;
      errors += detail["outcome"] === "error" || detail["outcome"] === "unknown" ? 1 : 0;
      times.push(numberOf(detail["ms"]));
    },
    get: () => ({ calls, errors, p95Ms: percentile(times, 0.95) }),
  };
}

function toolOf(tools: Map<string, ReturnType<typeof createTool>>, name: string): ReturnType<typeof createTool> {
  const known = tools.get(name) ?? createTool();
  tools.set(name, known);
  return known;
}

function toAnomaly({ seq, at, subject, detail }: LedgerLine): Usage["anomalies"][number] {
  const kind = typeof detail["kind"] === "string" ? detail["kind"] : "anomaly";
  return { seq, at, kind, subject, detail };
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** 0 without values. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
