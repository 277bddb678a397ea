/** Turns what happens in an execution into progress notifications, for clients that sent a token; never too many. */

import type { ExecutionEvent } from "../../domain/index.ts";

/** One notification in the words of MCP (2025-11-25, basic/utilities/progress): `progress` only ever goes up. */
export interface ProgressParams {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly message: string;
}

/** What a reporter needs; `send` may fail, because a client that went away hears nothing. */
export interface ReporterOptions {
  readonly progressToken: string | number;
  readonly send: (params: ProgressParams) => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** Log lines and upstream progress: so many may come at once, and one more for each pause. */
const BURST = 20;
const PAUSE_MS = 100;
/** Calls and answers are few by their own limit; this only stops a limit of a hundred thousand. */
const MAX_CALL_NOTES = 1_000;
const MESSAGE_CHARS = 500;

/** What is left out is gone: the result has all lines and calls, progress is for whoever watches. */
export function createReporter({ progressToken, send, now }: ReporterOptions): (event: ExecutionEvent) => void {
  let progress = 0;
  let called = 0;
  let answered = 0;
  let notes = 0;
  let left = BURST;
  let filledAt = now();

  const mayChat = (): boolean => {
    const refill = Math.floor((now() - filledAt) / PAUSE_MS);
    if (refill > 0) {
      left = Math.min(BURST, left + refill);
      filledAt = now();
    }
    if (left === 0) return false;
    left -= 1;
    return true;
  };

  const isHeard = (event: ExecutionEvent): boolean => {
    if (event.kind === "opened") return true;
    if (event.kind === "log" || event.kind === "progress") return mayChat();
    notes += 1;
    return notes <= MAX_CALL_NOTES;
  };

  return (event) => {
    if (event.kind === "called") called += 1;
    if (event.kind === "answered") answered += 1;
    if (!isHeard(event)) return;
    progress += 1;
    const message = capMessage(describe(event, `${answered} of ${called} calls answered`));
    void send({ progressToken, progress, message }).catch(() => undefined);
  };
}

function describe(event: ExecutionEvent, counters: string): string {
  switch (event.kind) {
    case "opened":
      return `Execution ${event.execution} has begun`;
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
      return `${event.approval.tool} waits for a person (${event.approval.id})`;
    case "log":
      return `[${event.line.level}] ${event.line.text}`;
    default:
      return event satisfies never;
  }
}

function capMessage(text: string): string {
  return text.length <= MESSAGE_CHARS ? text : `${text.slice(0, MESSAGE_CHARS).toWellFormed()}…`;
}
