/** What a journal holds (the request, the start of its program, every delivery in order), and the interface to it. */

import type { JournaledCall } from "../bridge/index.ts";
import { GloveboxError, defined } from "../domain/index.ts";
import type { Digest, EngineName, ExecutionId, LabelSource, Namespace, Program, ToolAddress } from "../domain/index.ts";
import type { Delivery, TapeStart } from "../sandbox/index.ts";
import type { JournalPiece } from "../store/index.ts";

import type { JournaledRequest } from "./requests.ts";

/** A program as it started: its translation, the names it sees, its random seed and its clock. */
export interface JournaledStart {
  readonly start: TapeStart;
  readonly program: Program;
  readonly namespaces: readonly Namespace[];
  readonly network: boolean;
  /** The tokens in its `secrets`. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The last one that ran it. */
  readonly engine: EngineName;
  /** It started before the verdict about its types, which is not in the journal. */
  readonly isUnchecked?: true;
  /** What its session had read before. */
  readonly labels?: readonly LabelSource[];
  /** The definitions of the skills that it names: it keeps them while they may run. */
  readonly skills?: Readonly<Record<string, Digest>>;
}

export interface JournaledDelivery {
  readonly delivery: Delivery;
  readonly call?: JournaledCall;
}

/** A run of a skill, for one call of it. */
export interface JournaledFrame {
  /** The number of the call. */
  readonly seq: number;
  /** The number of the run within the call of the program. */
  readonly frame: number;
  readonly tool: ToolAddress;
  readonly definition: Digest;
  readonly start: TapeStart;
  readonly engine: EngineName;
  readonly deliveries: readonly JournaledDelivery[];
}

/** A delivery that answered a call. */
export type AnsweredCall = Required<JournaledDelivery>;

/** One line of a journal. The names are part of the store format. */
export type JournalEvent =
  /** With the seed and the clock, which are written before anything uses them. */
  | ({ readonly kind: "asked"; readonly start?: TapeStart } & JournaledRequest)
  /** One without an engine ran in a V8 isolate. */
  | ({ readonly kind: "began"; readonly engine?: EngineName } & Omit<JournaledStart, "engine">)
  /** Its types fit: all findings about it. Only after `began` with `isUnchecked`. */
  | { readonly kind: "checked"; readonly findings: Program["findings"] }
  /** `under` is the call of the skill that received it, for one that the program did not receive itself. */
  | ({ readonly kind: "given"; readonly under?: number } & JournaledDelivery)
  /** Another engine has the program from here on. */
  | { readonly kind: "switched"; readonly engine: EngineName; readonly under?: number }
  /** A skill started. */
  | ({ readonly kind: "entered" } & Omit<JournaledFrame, "deliveries">)
  /** The journal became too large; nothing is known from here on. */
  | { readonly kind: "broke" };

/** A whole journal, read back. */
export interface Recording {
  readonly request: JournaledRequest;
  readonly start?: TapeStart;
  /** Absent when the program never started. */
  readonly started?: JournaledStart;
  readonly deliveries: readonly JournaledDelivery[];
  /** The runs of its skills. */
  readonly frames?: readonly JournaledFrame[];
  /** False when it is incomplete: such an execution can be neither resumed nor replayed. */
  readonly isWhole: boolean;
}

/** The journal of one execution that runs. */
export interface Journal {
  /** Written with the next `write` or `flush`, or a few milliseconds later. */
  note(event: JournalEvent): void;
  /** Removes and returns what was noted and not yet written, for a caller that writes it together with other data. */
  readonly take: () => readonly JournalPiece[];
  /** Resolves when all notes survive a crash of this process; rejects when one was lost. */
  readonly write: () => Promise<void>;
  /** True when all notes survive a crash of this process already. */
  readonly isWritten: () => boolean;
  /** Resolves when all notes are on disk; rejects when one was lost. */
  readonly flush: () => Promise<void>;
  /** False once it has become too large. */
  isWhole(): boolean;
}

export interface Journals {
  begin(execution: ExecutionId): Journal;
  /** Reads the journal and continues it. `undefined` when it does not exist or was dropped. */
  reopen(execution: ExecutionId): Promise<{ readonly recording: Recording; readonly journal: Journal } | undefined>;
  read(execution: ExecutionId): Promise<Recording | undefined>;
  /** Removes journals that were kept long enough. Returns how many. */
  drop(): Promise<number>;
}

/** `undefined` without a request: then nothing was ever written. */
export function toRecording(events: readonly JournalEvent[]): Recording | undefined {
  const asked = events.find((event) => event.kind === "asked");
  if (!asked) return undefined;
  const { start, ...request } = asked;
  const began = events.find((event) => event.kind === "began");
  const checked = events.find((event) => event.kind === "checked");
  const switched = (under?: number) => events.findLast((event) => event.kind === "switched" && event.under === under);
  const { engine = "isolate" } = toEngine(switched()) ?? began ?? {};
  const frames = events.filter((event) => event.kind === "entered");
  const started = began && { ...began, engine };
  return {
    request,
    ...defined({ start, started: started && checked ? markChecked(started, checked) : started }),
    deliveries: givenTo(events),
    ...(frames.length > 0 && {
      frames: frames.map(({ kind: _, ...frame }) => {
        const deliveries = givenTo(events, frame.seq);
        return { ...frame, ...toEngine(switched(frame.seq)), deliveries };
      }),
    }),
    isWhole: !events.some((event) => event.kind === "broke"),
  };
}

function givenTo(events: readonly JournalEvent[], under?: number): readonly JournaledDelivery[] {
  return events.flatMap((event) => {
    if (event.kind !== "given" || event.under !== under) return [];
    const { under: _, ...delivery } = event;
    return [delivery];
  });
}

function toEngine(event: JournalEvent | undefined): { readonly engine: EngineName } | undefined {
  return event?.kind === "switched" ? { engine: event.engine } : undefined;
}

/** What the program and its skills received. */
export function allDeliveries({ deliveries, frames = [] }: Pick<Recording, "deliveries" | "frames">) {
  return [...deliveries, ...frames.flatMap((frame) => frame.deliveries)];
}

function markChecked(
  { isUnchecked: _, program, ...start }: JournaledStart,
  { findings }: Pick<Program, "findings">,
): JournaledStart {
  return { ...start, program: { ...program, findings } };
}

/** The program of a recording, with the source that the journal keeps in the request only. */
export function programOf({ request, started }: Recording): Program | undefined {
  return started && { ...started.program, source: request.source, checkable: request.source };
}

/** The deliveries that answered a call, by its number. */
export function answersOf(deliveries: readonly JournaledDelivery[]): ReadonlyMap<number, AnsweredCall> {
  return new Map(deliveries.flatMap(({ delivery, call }) => (call ? [[call.record.seq, { delivery, call }]] : [])));
}

/** A program that is run again makes another call than before. `text` is the address, a newline and the arguments. */
export function callDiverged(seq: number, text: string, was: string | undefined, hint: string): GloveboxError {
  const tool = text.slice(0, text.indexOf("\n"));
  const what = tool === was ? `${tool} with other arguments than before` : `${tool}, but it was ${was} before`;
  return new GloveboxError("REPLAY_DIVERGED", `Call ${seq} is ${what}`, { hint });
}
