/**
 * The type check of a program that already runs. Until the verdict, allowed reads leave, every other call waits, and
 * nothing that the program has read is given out: no value, no log line and no message of an upstream.
 */

import type { AnalysisResult } from "../../analysis/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { ExecutionEvent, Program, PublicError } from "../../domain/index.ts";
import type { SandboxResult } from "../../sandbox/index.ts";
import { untilAborted } from "../../timing/index.ts";

import type { Journal } from "../journal.ts";
import type { ExecutionRequest } from "../requests.ts";

export type BesideCheck = ReturnType<typeof openBesideCheck>;

/** What of a run may be given out. */
interface CheckedRun {
  readonly program: Program;
  readonly ran: SandboxResult;
}

export function openBesideCheck(
  checking: Promise<AnalysisResult>,
  { signal, onEvent }: Pick<ExecutionRequest, "signal" | "onEvent">,
  journal: Pick<Journal, "note">,
) {
  const wrong = new AbortController();
  const events: ExecutionEvent[] = [];
  let verdict: AnalysisResult | undefined;
  let isWaiting = true;
  let onHold: (isHeld: boolean) => void = () => undefined;
  const stopWaiting = (keeps: (event: ExecutionEvent) => boolean): void => {
    isWaiting = false;
    for (const event of events.splice(0)) if (keeps(event)) onEvent?.(event);
  };
  const passed = checking.then((checked) => {
    verdict = checked;
    if (!checked.ok) throw toThrown(checked.error);
    // Flushed with the intent of the first call that waits for it, so a resumed program is not checked again.
    journal.note({ kind: "checked", findings: checked.program.findings });
    stopWaiting(() => true);
    onHold(false);
  });
  passed.catch(() => {
    stopWaiting(isAboutCalls);
    wrong.abort();
  });
  return {
    isUnchecked: true as const,
    /** Fires when the request is cancelled, or the program must end because of its types. */
    signal: AbortSignal.any([signal, wrong.signal]),
    /** Holds events back until the verdict. Those of a wrong program that could contain data are dropped. */
    onEvent: (event: ExecutionEvent): void => {
      if (isWaiting) events.push(event);
      else if (verdict?.ok || isAboutCalls(event)) onEvent?.(event);
    },
    /** Resolves when the program fits; rejects with PROGRAM_TYPES. `undefined` once it fits. */
    whenChecked: (): Promise<void> | undefined => {
      if (verdict?.ok) return undefined;
      onHold(true);
      return passed;
    },
    /** Calls the listener when a call begins to wait for the verdict, and when none does any longer. */
    watchHolds: (listener: (isHeld: boolean) => void): void => void (onHold = listener),
    /** Waits for the verdict about a program that has ended, unless the request is cancelled. */
    async settle({ program, ran }: CheckedRun): Promise<CheckedRun> {
      await untilAborted(passed, signal).catch(() => undefined);
      if (verdict?.ok) return { program: verdict.program, ran };
      const hidden = { ...ran, logs: [], usage: { ...ran.usage, outputBytes: 0 } };
      if (verdict) {
        const ending = { kind: "failed", error: toThrown(verdict.error) } as const;
        return { program: { ...program, findings: verdict.findings }, ran: { ...hidden, ending } };
      }
      if (!signal.aborted) throw await passed.catch((thrown: unknown) => thrown);
      stopWaiting(isAboutCalls);
      return { program, ran: { ...hidden, ending: { kind: "cancelled" } } };
    },
  };
}

/** Everything but what an upstream or the program itself has written. */
function isAboutCalls({ kind }: ExecutionEvent): boolean {
  return kind !== "log" && kind !== "progress";
}

/** The same error as one that can be thrown. */
export function toThrown({ code, message, hint, line, column, frame }: PublicError): GloveboxError {
  return new GloveboxError(code, message, defined({ hint, line, column, frame }));
}
