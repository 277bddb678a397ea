/**
 * Journals every delivery, sealed, before the program sees it, so that it survives a crash of this process. It is on disk
 * before a call that may change something leaves, and as durable as the end when the result is returned.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionId, Instant, Seal } from "../../domain/index.ts";
import type { JournalPiece, Store } from "../../store/index.ts";
import { HOUR_MS, pollEvery, runInSlices } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import { parseJournal, writeEvent } from "../journal-schema.ts";
import { toRecording } from "../journal.ts";
import type { Journal, Journals } from "../journal.ts";

/** Batching delay for entries that no caller awaits. */
const SOON_MS = 5;
/** More is written in several transactions, so that none of them holds the thread for long. */
const PIECE_CHARS = 512 * 1024;

export interface JournalsOptions {
  readonly store: Store["journals"];
  readonly seal: Pick<Seal, "close" | "open">;
  readonly now: () => Instant;
  /** How long a journal is kept after its execution ended. */
  readonly keepMs: number;
  /** The total size of the journals of ended executions. */
  readonly totalBytes: number;
  /** The most that one execution may write; above it, it can be neither suspended nor replayed. */
  readonly executionBytes: number;
  /** Called with the size of each part that is written. */
  readonly onStored?: (bytes: number) => void;
}

export function openJournals(options: JournalsOptions): Journals {
  const { store, seal, now, keepMs, totalBytes } = options;
  const readAll = async (execution: ExecutionId) => {
    const pieces = await store.read(execution);
    if (pieces.some(({ piece }, place) => piece !== place)) throw damaged(execution);
    const texts = await runInSlices(openPieces(seal, pieces));
    const recording = toRecording(parseJournal(texts));
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

/**
 * Drops journals that reach the operator's time or size limit, now and every hour. `report` is called when that failed.
 * Disposing waits for the drop in progress.
 */
export function keepJournals(
  options: JournalsOptions & { readonly report: (thrown: unknown) => unknown },
): Journals & AsyncDisposable {
  const journals = openJournals(options);
  const drop = async (): Promise<void> => void (await journals.drop().catch(options.report));
  return { ...journals, ...pollEvery(HOUR_MS, drop, drop()) };
}

interface Size {
  readonly pieces: number;
  readonly bytes: number;
}

function createJournal(execution: ExecutionId, options: JournalsOptions, size: Size): Journal {
  const { store, executionBytes } = options;
  const notes = createNotes(execution, options, size.pieces);
  let { bytes } = size;
  let isBroken = false;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<void> = Promise.resolve();
  let isWritten = true;
  /** The write that will contain the waiting entries. */
  let next: Promise<void> | undefined;
  let isFlushed = true;

  const take = (most = Infinity): readonly JournalPiece[] => {
    clearTimeout(timer);
    timer = undefined;
    next = undefined;
    return notes.take(most);
  };
  /** A crash in between leaves the first lines of an entry, which are ignored. */
  const appendInParts = async (isDurable: boolean): Promise<void> => {
    for (let isLast = false; !isLast || !notes.isEmpty();) {
      isLast = notes.size() <= PIECE_CHARS;
      let taken: readonly JournalPiece[] | undefined;
      await store.append(() => (taken ??= take(PIECE_CHARS)), isDurable && isLast);
    }
  };
  const append = (isDurable: boolean): Promise<void> => {
    isFlushed = isDurable;
    const appended = appendInParts(isDurable);
    // A lost entry stays lost: every later flush rejects, too.
    const whole = (isWritten ? appended : Promise.all([written, appended])).then(() => {
      isWritten ||= written === whole;
    });
    isWritten = false;
    written = whole;
    whole.catch(() => undefined);
    return whole;
  };
  // Everything noted until the store writes is one piece.
  const write = (): Promise<void> => (notes.isEmpty() ? written : (next ??= append(false)));
  return {
    note(event) {
      if (isBroken) return;
      const lines = writeEvent(event);
      bytes += sizeOf(lines);
      isBroken = bytes > executionBytes && event.kind === "given";
      notes.add(isBroken ? writeEvent({ kind: "broke" }) : lines);
      if (!next) timer ??= setTimeout(write, SOON_MS);
    },
    take: () => take(),
    write,
    isWritten: () => isWritten && notes.isEmpty(),
    flush: () => (notes.isEmpty() && isFlushed ? written : append(true)),
    isWhole: () => !isBroken,
  };
}

/** The lines that are not written yet, from which the pieces are made. */
function createNotes(execution: ExecutionId, { seal, onStored }: JournalsOptions, first: number) {
  let next = first;
  let waiting: string[] = [];
  const sealPiece = (lines: readonly string[]): JournalPiece => {
    const place = { execution, piece: next };
    const piece = { ...place, sealed: seal.close(lines.join("\n"), contextOf(place)) };
    onStored?.(piece.sealed.byteLength);
    next += 1;
    return piece;
  };
  return {
    isEmpty: (): boolean => waiting.length === 0,
    size: (): number => sizeOf(waiting),
    add: (lines: readonly string[]): void => void waiting.push(...lines),
    /** One piece of about this size at most, and at least one line. */
    take(most: number): readonly JournalPiece[] {
      let size = 0;
      const end = waiting.findIndex((line, at) => (size += line.length) > most && at > 0);
      const taken = end < 0 ? waiting : waiting.slice(0, end);
      waiting = end < 0 ? [] : waiting.slice(end);
      return taken.length === 0 ? [] : [sealPiece(taken)];
    },
  };
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

function* openPieces(seal: Pick<Seal, "open">, pieces: readonly JournalPiece[]): SlicedWork<readonly string[]> {
  const texts: string[] = [];
  for (const one of pieces) {
    texts.push(openPiece(seal, one));
    yield;
  }
  return texts;
}

function openPiece(seal: Pick<Seal, "open">, one: JournalPiece): string {
  try {
    return seal.open(one.sealed, contextOf(one));
  } catch (cause) {
    throw damaged(one.execution, cause);
  }
}

/** An execution whose journal has a gap cannot resume: nothing is repeated on a guess. */
function damaged(execution: ExecutionId, cause?: unknown): GloveboxError {
  const message = `The journal of ${execution} is damaged: a part of it is missing or cannot be opened`;
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; `glovebox audit verify` checks the ledger",
    cause,
  });
}

/** A piece that was moved to another execution or position does not open. */
function contextOf({ execution, piece }: Pick<JournalPiece, "execution" | "piece">): string {
  return `journal:${execution}:${piece}`;
}
