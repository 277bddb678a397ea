/** Between the sandbox and a journal: what a program is given is noted, and what it was given before comes again. */

import { digestOf } from "../../text/index.ts";
import type { Bridge, JournaledCall } from "../../bridge/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { PublicError } from "../../domain/index.ts";
import type { Tape, TapeStart } from "../../sandbox/index.ts";

import type { JournaledDelivery, JournaledStart, Recording } from "./events.ts";
import type { Journal } from "./open-journals.ts";

export interface TapeOptions {
  readonly journal: Journal;
  readonly bridge: Bridge;
  readonly started: Omit<JournaledStart, "start">;
  /** Where chance and time begin, if that was written down before. */
  readonly start?: TapeStart;
  /** What an earlier run left, if there was one that began. */
  readonly recording?: Recording;
  /** Hears that the program begins now. */
  readonly onStart: () => void;
}

export function createTape(options: TapeOptions): Tape {
  const { journal, bridge, started, recording, onStart } = options;
  const start = recording?.started?.start ?? options.start;
  const past = recording?.deliveries ?? [];
  const answers = new Map(past.flatMap(({ call }) => (call ? [[call.record.seq, call] as const] : [])));
  return {
    ...(start && { start }),
    past: past.map(({ delivery }) => delivery),
    began(from) {
      onStart();
      if (!recording?.started) journal.note({ kind: "began", ...started, start: from });
    },
    repeat(seq, text) {
      const call = answers.get(seq);
      if (call?.request !== digestOf(text)) throw diverged(seq, text, call);
      bridge.restore(call, failureOf(past, seq));
    },
    keep(delivery) {
      const call = delivery.kind === "tick" ? undefined : bridge.takeJournaled(delivery.id);
      journal.note({ kind: "given", delivery, ...(call && { call }) });
      const written = journal.write();
      // What changed something must not be asked for again: its answer is worth a flush, for which nobody waits.
      if (call && call.record.effect !== "read") void journal.flush().catch(() => undefined);
      return written;
    },
  };
}

/** A failed call is told as it was told then. */
function failureOf(past: readonly JournaledDelivery[], seq: number): PublicError | undefined {
  const failure = past.find(({ delivery }) => delivery.kind === "failure" && delivery.id === seq);
  return failure && parseFailure(failure.delivery.text);
}

/** The bridge made it. */
function parseFailure(text: string): PublicError {
  return JSON.parse(text) as PublicError;
}

function diverged(seq: number, text: string, call: JournaledCall | undefined): GloveboxError {
  const asked = text.slice(0, text.indexOf("\n"));
  const was = call?.record.tool ?? "another one";
  const what =
    asked === was ? `${asked} with other arguments than the first time` : `${asked}, the first time it was ${was}`;
  return new GloveboxError("REPLAY_DIVERGED", `Call ${seq} is ${what}`, {
    hint: "Run the program again from the start; what its calls changed stays changed",
  });
}
