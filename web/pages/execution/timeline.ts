/** Places the calls of an execution on a line. Time in which it waited for a person is drawn short, and marked. */

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";

type Call = ExecutionAnswer["result"]["calls"][number];

/** A part of a bar, in percent of the line. */
interface Span {
  readonly from: number;
  readonly width: number;
}

export interface PlacedCall {
  readonly call: Call;
  /** Absent if the ledger no longer has its time. */
  readonly bar?: Span;
  readonly wait?: Span;
}

export interface Timeline {
  readonly calls: readonly PlacedCall[];
  /** Without the time of waiting. */
  readonly activeMs: number;
  readonly waitedMs: number;
  /** The most calls at the same time. */
  readonly atOnce: number;
}

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Part of the whole line that one wait takes, however long it was. */
const WAIT_SHARE = 0.1;
/** So that a short call can be seen. */
const MIN_WIDTH = 0.8;

export function placeCalls({ result, times, approvals, endedAt }: ExecutionAnswer, now: number): Timeline {
  const byCall = new Map(times.map((time) => [time.seq, time]));
  const start = Math.min(...times.map(({ startedAt }) => startedAt));
  const end = Math.max(endedAt ?? now, ...times.map((time) => time.endedAt ?? time.startedAt), start + 1);
  const waits = approvals.map(({ seq, createdAt, decidedAt }) => ({
    seq,
    from: Math.max(createdAt, start),
    to: Math.min(decidedAt ?? endedAt ?? now, end),
  }));
  const joined = join(waits);
  const waitedMs = joined.reduce((sum, { from, to }) => sum + to - from, 0);
  const activeMs = end - start - waitedMs;
  const toLine = createScale({ start, activeMs, waits: joined });
  const total = toLine(end);
  const toSpan = ({ from, to }: Interval): Span => {
    const left = (toLine(from) / total) * 100;
    const width = Math.max((toLine(to) / total) * 100 - left, MIN_WIDTH);
    return { from: Math.min(left, 100 - MIN_WIDTH), width };
  };
  const calls = result.calls.map((call) => {
    const time = byCall.get(call.seq);
    if (!time) return { call };
    const to = time.endedAt ?? (endedAt === null ? now : time.startedAt);
    const wait = waits.find(({ seq }) => seq === call.seq);
    const bar = toSpan({ from: wait ? Math.min(wait.to, to) : time.startedAt, to });
    return wait ? { call, bar, wait: toSpan(wait) } : { call, bar };
  });
  return { calls, activeMs, waitedMs, atOnce: countAtOnce(times, end) };
}

function join(intervals: readonly Interval[]): readonly Interval[] {
  const joined: Interval[] = [];
  for (const { from, to } of intervals.filter((one) => one.to > one.from).toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else joined.push({ from, to });
  }
  return joined;
}

interface ScaleOptions {
  readonly start: number;
  readonly activeMs: number;
  readonly waits: readonly Interval[];
}

/** A length of one wait on the line: a part of the active time, whatever its own length. */
function createScale({ start, activeMs, waits }: ScaleOptions): (at: number) => number {
  const shown = Math.max(activeMs, 1) * WAIT_SHARE;
  return (at) =>
    waits.reduce((place, { from, to }) => {
      const inside = Math.max(0, Math.min(at, to) - from);
      return place - inside + (inside / (to - from)) * Math.min(shown, to - from);
    }, at - start);
}

function countAtOnce(times: ExecutionAnswer["times"], end: number): number {
  const steps = times.flatMap(({ startedAt, endedAt = end }) => [
    { at: startedAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  let [now, most] = [0, 0];
  // A call that starts when another one ends does not overlap it.
  for (const { by } of steps.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
