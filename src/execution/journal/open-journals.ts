/**
 * Journals every delivery, sealed, before the program sees it, so that it survives a crash of this process. It is on disk
 * before a call that may change something leaves, and as durable as the end when the result is returned.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionId, Instant, Seal } from "../../domain/index.ts";
import type { JournalPiece, Store } from "../../store/index.ts";
import { HOUR_MS, pollEvery } from "../../timing/index.ts";

import { parseJournal, writeEvent } from "../journal-schema.ts";
import { toRecording } from "../journal.ts";
import type { Journal, Journals } from "../journal.ts";

/** Batching delay for entries that no caller awaits. */
const SOON_MS = 5;
/** A larger entry is sealed when it is noted, so that its write takes another turn of the event loop. */
const LARGE_CHARS = 256 * 1024;

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
    const texts = pieces.map((one) => openPiece(seal, one));
    const recording = toRecording(texts.flatMap((text) => parseJournal(text)));
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

  const take = (): readonly JournalPiece[] => {
    clearTimeout(timer);
    timer = undefined;
    next = undefined;
    return notes.take();
  };
  const append = (isDurable: boolean): Promise<void> => {
    isFlushed = isDurable;
    let taken: readonly JournalPiece[] | undefined;
    const appended = store.append(() => (taken ??= take()), isDurable);
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
    take,
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
  /** Large entries, with those before them. */
  let sealed: JournalPiece[] = [];
  const sealWaiting = (): void => {
    if (waiting.length === 0) return;
    const place = { execution, piece: next };
    const piece = { ...place, sealed: seal.close(waiting.join("\n"), contextOf(place)) };
    onStored?.(piece.sealed.byteLength);
    waiting = [];
    sealed.push(piece);
    next += 1;
  };
  return {
    isEmpty: (): boolean => waiting.length === 0 && sealed.length === 0,
    add(lines: readonly string[]): void {
      waiting.push(...lines);
      if (sizeOf(lines) > LARGE_CHARS) sealWaiting();
    },
    take(): readonly JournalPiece[] {
      sealWaiting();
      const taken = sealed;
      sealed = [];
      return taken;
    },
  };
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

function openPiece(seal: Pick<Seal, "close" | "open">, one: JournalPiece): string {
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
