/** The tape between sandbox and journal: journals each delivery, and repeats those of an earlier run. */

import { digestOf } from "../../text/index.ts";
import type { Bridge } from "../../bridge/index.ts";
import { defined } from "../../domain/index.ts";
import type { Tape, TapeStart } from "../../sandbox/index.ts";

import { parseFailure } from "../journal-schema.ts";
import { answersOf, callDiverged } from "../journal.ts";
import type { Journal, JournaledStart, Recording } from "../journal.ts";

const DIVERGED_HINT = "Run the program again from the start; changes made by its calls remain";

export interface TapeOptions {
  readonly journal: Journal;
  readonly bridge: Bridge;
  readonly started: Omit<JournaledStart, "engine" | "start">;
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
  const answers = answersOf(past);
  return {
    ...defined({ start, engine: recording?.started?.engine }),
    past: past.map(({ delivery }) => delivery),
    began(from, engine) {
      onStart();
      if (!recording?.started) journal.note({ kind: "began", ...started, engine, start: from });
    },
    switched: (engine) => journal.note({ kind: "switched", engine }),
    repeat(seq, text) {
      const answer = answers.get(seq);
      if (answer?.call.request !== digestOf(text))
        throw callDiverged(seq, text, answer?.call.record.tool ?? "another tool", DIVERGED_HINT);
      const { call, delivery } = answer;
      bridge.restore(call, delivery.kind === "failure" ? parseFailure(delivery.text) : undefined);
    },
    keep(delivery) {
      const call = delivery.kind === "tick" ? undefined : bridge.takeJournaled(delivery.id);
      journal.note({ kind: "given", delivery, ...defined({ call }) });
      const written = journal.write();
      // A call that may have changed something must not be repeated: its reply is flushed, without waiting for it.
      if (call && call.record.effect !== "read") void journal.flush().catch(() => undefined);
      return written;
    },
  };
}
