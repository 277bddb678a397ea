/**
 * Writes what enters programs, sealed, before they see it: it outlives this process then. Before anything that depends
 * on it leaves which changes something, and before the result, it is on disk, too.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionId, Instant, Seal } from "../../domain/index.ts";
import type { JournalPiece, Store } from "../../store/index.ts";

import { parseLines, toLine, toRecording } from "./events.ts";
import type { JournalEvent, Recording } from "./events.ts";

/** How long what nobody waits for finds company. */
const SOON_MS = 5;

export interface JournalsOptions {
  readonly store: Store["journals"];
  readonly seal: Pick<Seal, "close" | "open">;
  readonly now: () => Instant;
  /** How long a journal is kept after its execution ended. */
  readonly keepMs: number;
  /** The most that journals of ended executions take up together. */
  readonly totalBytes: number;
  /** The most that one execution writes; beyond, it can no longer be set aside or shown again. */
  readonly executionBytes: number;
}

/** The journal of one execution under way. */
export interface Journal {
  /** It is written with the next `write` or `flush`, or a few milliseconds later. */
  note(event: JournalEvent): void;
  /** What was noted and not yet written: the caller writes it, together with something of its own. */
  readonly take: () => readonly JournalPiece[];
  /** Resolves when all that was noted is written and outlives this process; rejects when something of it was lost. */
  readonly write: () => Promise<void>;
  /** Resolves when all that was noted is on disk; rejects when something of it was lost. */
  readonly flush: () => Promise<void>;
  /** False once it has become too large. */
  isWhole(): boolean;
}

export interface Journals {
  begin(execution: ExecutionId): Journal;
  /** To be read, and to be written on. `undefined` when there is none, or none any more. */
  reopen(execution: ExecutionId): Promise<{ readonly recording: Recording; readonly journal: Journal } | undefined>;
  read(execution: ExecutionId): Promise<Recording | undefined>;
  /** Lets go of what was kept long enough. */
  drop(): Promise<number>;
}

export function openJournals(options: JournalsOptions): Journals {
  const { store, seal, now, keepMs, totalBytes } = options;
  const readAll = async (execution: ExecutionId) => {
    const pieces = await store.read(execution);
    if (pieces.some(({ piece }, place) => piece !== place)) throw damaged(execution);
    const texts = pieces.map((one) => openPiece(seal, one));
    const recording = toRecording(texts.flatMap((text) => parseLines(text)));
    return { recording, pieces: pieces.length, bytes: texts.reduce((sum, text) => sum + text.length, 0) };
  };
  return {
    begin: (execution) => createJournal(execution, options, { pieces: 0, bytes: 0 }),
    async reopen(execution) {
      const { recording, ...size } = await readAll(execution);
      return recording && { recording, journal: createJournal(execution, options, size) };
    },
    read: async (execution) => (await readAll(execution)).recording,
    drop: () => store.drop({ endedBefore: now() - keepMs, totalBytes }),
  };
}

interface Size {
  readonly pieces: number;
  readonly bytes: number;
}

function createJournal(execution: ExecutionId, options: JournalsOptions, size: Size): Journal {
  const { store, seal, executionBytes } = options;
  let { pieces, bytes } = size;
  let waiting: string[] = [];
  let isBroken = false;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<void> = Promise.resolve();
  /** What waits is written with this. */
  let next: Promise<void> | undefined;
  let isFlushed = true;

  const take = (): readonly JournalPiece[] => {
    clearTimeout(timer);
    timer = undefined;
    next = undefined;
    if (waiting.length === 0) return [];
    const place = { execution, piece: pieces };
    const sealed = seal.close(waiting.join("\n"), contextOf(place));
    waiting = [];
    pieces += 1;
    return [{ ...place, sealed }];
  };
  const append = (isDurable: boolean): Promise<void> => {
    isFlushed = isDurable;
    let taken: readonly JournalPiece[] | undefined;
    const appended = store.append(() => (taken ??= take()), isDurable);
    // One that was lost stays lost: whoever flushes later hears of it too.
    written = Promise.all([written, appended]).then(() => undefined);
    written.catch(() => undefined);
    return written;
  };
  // All that is noted until the store comes to it is one piece.
  const write = (): Promise<void> => (waiting.length === 0 ? written : (next ??= append(false)));
  return {
    note(event) {
      if (isBroken) return;
      const line = toLine(event);
      bytes += line.length;
      isBroken = bytes > executionBytes && event.kind === "given";
      waiting.push(isBroken ? toLine({ kind: "broke" }) : line);
      if (!next) timer ??= setTimeout(write, SOON_MS);
    },
    take,
    write,
    flush: () => (waiting.length === 0 && isFlushed ? written : append(true)),
    isWhole: () => !isBroken,
  };
}

function openPiece(seal: Pick<Seal, "close" | "open">, one: JournalPiece): string {
  try {
    return seal.open(one.sealed, contextOf(one));
  } catch (cause) {
    throw damaged(one.execution, cause);
  }
}

/** Nothing is done again on a guess: an execution whose journal has a hole cannot go on. */
function damaged(execution: ExecutionId, cause?: unknown): GloveboxError {
  const message = `The journal of ${execution} is damaged: a part of it is missing or cannot be opened`;
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; glovebox audit verify says whether the ledger is whole",
    cause,
  });
}

/** A piece that was moved to another execution or another place does not open. */
function contextOf({ execution, piece }: Pick<JournalPiece, "execution" | "piece">): string {
  return `journal:${execution}:${piece}`;
}
