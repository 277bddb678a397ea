/** The tapes of a program and of the skills that it calls, all in its journal. */

import type { Bridge } from "../bridge/index.ts";
import { defined } from "../domain/index.ts";
import type { Tape } from "../sandbox/index.ts";

import type { ExecutionOpening } from "./execution-log.ts";
import { createTape } from "./journal/create-tape.ts";
import type { JournaledStart, Recording } from "./journal.ts";
import type { SkillLife, SkillTape } from "./run/call-skill.ts";
import type { SuspensionDetector } from "./suspend/detect-suspension.ts";

export type ProgramStart = Omit<JournaledStart, "engine" | "start">;

interface TapedProgram {
  readonly bridge: Bridge;
  readonly started: ProgramStart;
  /** Called when the program starts. */
  readonly onStart: () => void;
}

export function openProgramTape(
  { journal, start: first }: ExecutionOpening,
  recording: Recording | undefined,
  { bridge, started, onStart }: TapedProgram,
): Tape {
  const past = recording?.started && { ...recording.started, deliveries: recording.deliveries };
  return createTape({
    journal,
    bridge,
    onStart,
    describeStart: (start, engine) => ({ kind: "began", ...started, engine, start }),
    ...defined({ start: first, past, frames: recording?.frames }),
  });
}

/** Skills are suspended with their program, and continue with it. */
export function openSkillLife(
  { journal }: ExecutionOpening,
  recording: Recording | undefined,
  { signal, waiting: forPeople, suspend, watchStill, onTimers }: SuspensionDetector,
): SkillLife {
  const frames = recording?.frames ?? [];
  const openTape = ({ seq, tool: { address: tool, digest: definition }, past, bridge }: SkillTape): Tape => {
    const known = { seq, frame: bridge.frame, tool, definition };
    return createTape({
      journal,
      bridge,
      frames,
      under: seq,
      ...defined({ past }),
      describeStart: (start, engine) => ({ kind: "entered", ...known, start, engine }),
    });
  };
  const waits = { forPeople, suspend, watchHolds: watchStill };
  return { suspend: signal, waits, timers: createTimerSum(onTimers), frames, openTape };
}

/** Each call returns a listener for the open timers of one program; all of them together are passed on. */
function createTimerSum(onTimers: (open: number) => void): () => (open: number) => void {
  let all = 0;
  return () => {
    let own = 0;
    return (open) => {
      all += open - own;
      own = open;
      onTimers(all);
    };
  };
}
