/** The tape between sandbox and journal: journals each delivery, and repeats those of an earlier run. */

import type { Bridge } from "../../bridge/index.ts";
import { defined } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { Tape, TapeStart } from "../../sandbox/index.ts";
import { digestOf } from "../../text/index.ts";

import { callDiverged } from "../journal.ts";
import type { AnsweredCall, Journal, JournalEvent, JournaledDelivery, Recording } from "../journal.ts";
import { parseFailure } from "../journal-schema.ts";

const DIVERGED_HINT = "Run the program again from the start; changes made by its calls remain";

export interface TapeOptions {
  readonly journal: Journal;
  readonly bridge: Pick<Bridge, "restore" | "takeJournaled">;
  /** What is journaled when it starts for the first time. */
  readonly describeStart: (start: TapeStart, engine: EngineName) => JournalEvent;
  /** The seed and the clock, if they were journaled with the opening. */
  readonly start?: TapeStart;
  /** An earlier run. */
  readonly past?: {
    readonly start: TapeStart;
    readonly engine: EngineName;
    readonly deliveries: readonly JournaledDelivery[];
  };
  /** The runs of skills of the earlier run. */
  readonly frames?: Recording["frames"];
  /** The call of the skill whose tape it is; absent for that of the program. */
  readonly under?: number;
  /** Called when the program starts. */
  readonly onStart?: () => void;
}

export function createTape(options: TapeOptions): Tape {
  const { journal, bridge, describeStart, past, frames = [], under, onStart } = options;
  const deliveries = past?.deliveries ?? [];
  const answers = new Map(
    deliveries.flatMap(({ delivery, call }) => (call ? [[delivery.id, { delivery, call }]] : [])),
  );
  const own = defined({ under });
  const restore = ({ call, delivery }: AnsweredCall): void => {
    bridge.restore(call, delivery.kind === "failure" ? parseFailure(delivery.text) : undefined);
    const frame = frames.find(({ seq }) => seq === call.record.seq);
    for (const { delivery: nested, call: made } of frame?.deliveries ?? [])
      if (made) restore({ delivery: nested, call: made });
  };
  return {
    ...defined({ start: past?.start ?? options.start, engine: past?.engine }),
    past: deliveries.map(({ delivery }) => delivery),
    began(from, engine) {
      onStart?.();
      if (!past) journal.note(describeStart(from, engine));
    },
    switched: (engine) => journal.note({ kind: "switched", engine, ...own }),
    repeat(seq, text) {
      const answer = answers.get(seq);
      if (answer?.call.request !== digestOf(text))
        throw callDiverged(seq, text, answer?.call.record.tool ?? "another tool", DIVERGED_HINT);
      restore(answer);
    },
    keep(delivery) {
      const call = delivery.kind === "tick" ? undefined : bridge.takeJournaled(delivery.id);
      journal.note({ kind: "given", delivery, ...defined({ call }), ...own });
      const written = journal.write();
      // A call that may have changed something must not be repeated: its reply is flushed, without waiting for it.
      if (call && call.record.effect !== "read") void journal.flush().catch(() => undefined);
      return written;
    },
  };
}
