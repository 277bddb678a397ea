/** Sends progress notifications for the events of an execution, rate-limited, to clients that sent a token. */

import type { ExecutionEvent } from "../../domain/index.ts";

/** One notification as MCP defines it (2025-11-25, basic/utilities/progress): `progress` never decreases. */
export interface ProgressParams {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly message: string;
}

/** Sent while a client waits and nothing else happens, so that it sees that the request is alive. */
interface WaitingEvent {
  readonly kind: "waiting";
  readonly seconds: number;
}

export type ReportedEvent = ExecutionEvent | WaitingEvent;

/** `send` may fail if the client has disconnected. */
interface ReporterOptions {
  readonly progressToken: string | number;
  readonly send: (params: ProgressParams) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** Log lines and upstream progress: the burst, and the pause before each further one. */
const BURST = 20;
const PAUSE_MS = 100;
/** The limit on calls usually bounds these; this matters only for very high limits. */
const MAX_CALL_NOTES = 1_000;
const MESSAGE_CHARS = 500;
const WAITING_MS = 5_000;

/** Dropped notifications are not sent later: the result has all lines and calls. */
export function createReporter({ progressToken, send, now }: ReporterOptions): (event: ReportedEvent) => void {
  let progress = 0;
  let called = 0;
  let answered = 0;
  let notes = 0;
  let left = BURST;
  let filledAt = now();

  const isSent = ({ kind }: ReportedEvent): boolean => {
    if (kind === "opened" || kind === "waiting") return true;
    if (kind !== "log" && kind !== "progress") return (notes += 1) <= MAX_CALL_NOTES;
    const refill = Math.floor((now() - filledAt) / PAUSE_MS);
    if (refill > 0) {
      left = Math.min(BURST, left + refill);
      filledAt = now();
    }
    if (left === 0) return false;
    left -= 1;
    return true;
  };

  return (event) => {
    if (event.kind === "called") called += 1;
    if (event.kind === "answered") answered += 1;
    if (!isSent(event)) return;
    progress += 1;
    const message = capMessage(describe(event, `${answered} of ${called} calls answered`));
    void send({ progressToken, progress, message }).catch(() => undefined);
  };
}

/** Reports every few seconds how long the client has waited. Disposing stops it. */
export function reportWaiting(onEvent: (event: ReportedEvent) => void, everyMs = WAITING_MS): Disposable {
  const startedAt = performance.now();
  const report = (): void => onEvent({ kind: "waiting", seconds: Math.round((performance.now() - startedAt) / 1000) });
  const timer = setInterval(report, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function describe(event: ReportedEvent, counters: string): string {
  switch (event.kind) {
    case "waiting":
      return `Waiting for ${event.seconds} s; ${counters}`;
    case "opened":
      return `Execution ${event.execution} started`;
    case "called":
      return `${event.tool} called; ${counters}`;
    case "answered":
      return `${event.record.tool} ${event.record.outcome}; ${counters}`;
    case "progress": {
      const { done, total, message = "" } = event.progress;
      const share = total === undefined ? String(done) : `${done}/${total}`;
      return `${event.tool} ${share} ${message}`.trimEnd();
    }
    case "asked":
      return `${event.approval.tool} waits for approval (${event.approval.id})`;
    case "log":
      return `[${event.line.level}] ${event.line.text}`;
    default:
      return event satisfies never;
  }
}

function capMessage(text: string): string {
  return text.length <= MESSAGE_CHARS ? text : `${text.slice(0, MESSAGE_CHARS).toWellFormed()}…`;
}
