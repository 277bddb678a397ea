/** The tape between sandbox and journal: journals each delivery, and repeats those of an earlier run. */

import { digestOf } from "../../text/index.ts";
import type { Bridge, JournaledCall } from "../../bridge/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { PublicError } from "../../domain/index.ts";
import type { Tape, TapeStart } from "../../sandbox/index.ts";

import type { Journal, JournaledDelivery, JournaledStart, Recording } from "../journal.ts";

export interface TapeOptions {
  readonly journal: Journal;
  readonly bridge: Bridge;
  readonly started: Omit<JournaledStart, "start">;
  /** The seed and the clock, if they were journaled with the opening. */
  readonly start?: TapeStart;
  /** The journal of an earlier run. */
  readonly recording?: Recording;
  /** Called when the program starts. */
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
      // A call that may have changed something must not be repeated: its reply is flushed, without waiting for it.
      if (call && call.record.effect !== "read") void journal.flush().catch(() => undefined);
      return written;
    },
  };
}

/** The error that the earlier run received. */
function failureOf(past: readonly JournaledDelivery[], seq: number): PublicError | undefined {
  const failure = past.find(({ delivery }) => delivery.kind === "failure" && delivery.id === seq);
  return failure && trustFailure(failure.delivery.text);
}

/** The bridge of this gateway serialized it, and the journal is sealed. */
function trustFailure(text: string): PublicError {
  return JSON.parse(text) as PublicError;
}

function diverged(seq: number, text: string, call: JournaledCall | undefined): GloveboxError {
  const asked = text.slice(0, text.indexOf("\n"));
  const was = call?.record.tool ?? "another tool";
  const what = asked === was ? `${asked} with other arguments than before` : `${asked}, but it was ${was} before`;
  return new GloveboxError("REPLAY_DIVERGED", `Call ${seq} is ${what}`, {
    hint: "Run the program again from the start; changes made by its calls remain",
  });
}
