/** One program in one Dynamic Worker, from its start to its last frame. */

import type { Frame } from "../../frames.ts";
import { ERROR_CHARS, TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage, ThrownMessage } from "../../wire.ts";
import { STUCK, mapFirstLine, trustThrown } from "../realm.ts";
import type { FrameWire } from "./child.ts";
import { HEAD } from "./dynamic-worker.ts";
import type { GuestSession } from "./dynamic-worker.ts";
import { ImportRefused } from "./withhold-imports.ts";

/** Longer strings cross in pieces, because one message between Workers has a limit. */
const PIECE_CHARS = 4 * 1024 * 1024;

/** The engine refuses an `import` in a separate turn; a program that waits for that is not stuck yet. */
const SETTLE_MS = 10;

/** The engine's message if the program's module does not compile. */
const NOT_COMPILED = /Uncaught SyntaxError: ([^\n]*)(?:\n\s*at (program\.ts:\d+:\d+))?/;

/** Returns when the program has ended in any way; the last frame says how. True if the host still waits for a PONG. */
export async function runWorker(
  open: () => Promise<GuestSession>,
  frames: FrameWire,
  start: StartMessage,
  atMs: number,
): Promise<boolean> {
  const run = new WorkerRun(frames);
  try {
    using guest = await open();
    await feed(guest, JSON.stringify({ ...start, javascript: "" }));
    await guest.start(atMs);
    while (run.forward(await listen(guest, run)) && (await deliverAll(guest, frames, run)));
  } catch (thrown) {
    run.end(describeLoadFailure(thrown));
    frames.flush();
  }
  return run.isPinged;
}

/** The program's messages of this turn; without open requests, also those a little later. */
async function listen(guest: GuestSession, run: WorkerRun): Promise<string> {
  const messages = await collect(guest);
  if (messages !== "" || run.waiting > 0) return messages;
  await new Promise((done) => setTimeout(done, SETTLE_MS));
  return collect(guest);
}

/** Delivers everything that has arrived, each frame in a separate turn of the program. False if the host ended it. */
async function deliverAll(guest: GuestSession, frames: FrameWire, run: WorkerRun): Promise<boolean> {
  for (let frame = await frames.receive(); frame; frame = frames.poll()) {
    if (frame.kind === TO_GUEST.PING) {
      run.isPinged = true;
      continue;
    }
    if (frame.kind === TO_GUEST.END) return false;
    if (frame.kind === TO_GUEST.LEFT) continue; // only the host watches the time of a Worker
    run.waiting -= 1;
    await feed(guest, frame.text);
    await guest.deliver(frame.kind, frame.id, frame.atMs);
  }
  return true;
}

async function feed(guest: GuestSession, text: string): Promise<void> {
  for (let at = 0; at < text.length; at += PIECE_CHARS) await guest.feed(text.slice(at, at + PIECE_CHARS));
}

async function collect(guest: GuestSession): Promise<string> {
  let text = await guest.collect();
  for (let piece = text; piece.length === PIECE_CHARS; text += piece) piece = await guest.collect();
  return text;
}

class WorkerRun {
  readonly #frames: FrameWire;
  /** Calls and timers that the host has not answered yet. */
  waiting = 0;
  /** The host waits for a PONG. */
  isPinged = false;
  #isOver = false;

  constructor(frames: FrameWire) {
    this.#frames = frames;
  }

  /** Forwards the program's messages; false if they ended it. */
  forward(messages: string): boolean {
    for (const { kind, id, text } of splitFrames(messages)) {
      if (kind === TO_HOST.CALL || kind === TO_HOST.TIMER) this.waiting += 1;
      if (kind === TO_HOST.THREW) this.end(trustThrown(text));
      else if (kind === TO_HOST.DONE || kind === TO_HOST.OVERRUN) this.#sendLast(kind, text);
      else this.#send(kind, id, text);
    }
    // All input comes from the host, so a program without an open request can never continue.
    if (this.waiting === 0) this.end(STUCK);
    if (this.isPinged && !this.#isOver) {
      this.#send(TO_HOST.PONG, 0, "");
      this.isPinged = false;
    }
    this.#frames.flush();
    return !this.#isOver;
  }

  end(thrown: ThrownMessage): void {
    this.#sendLast(TO_HOST.THREW, JSON.stringify(withAuthorStack(thrown)));
  }

  #send(kind: number, id: number, text: string): void {
    if (!this.#isOver) this.#frames.send(kind, id, text);
  }

  /** The engine measures neither time nor memory of a Worker; the host does, from outside. */
  #sendLast(kind: number, text: string): void {
    this.#send(TO_HOST.USAGE, 0, "0 0");
    this.#send(kind, 0, text);
    this.#isOver = true;
  }
}

/** Splits the messages of one turn: "kind id length", a newline and the text, one after the other. */
export function splitFrames(messages: string): readonly Omit<Frame, "atMs">[] {
  const frames: Omit<Frame, "atMs">[] = [];
  for (let at = 0; at < messages.length;) {
    const end = messages.indexOf("\n", at);
    const [kind = 0, id = 0, length = 0] = messages.slice(at, end).split(" ").map(Number);
    frames.push({ kind, id, text: messages.slice(end + 1, end + 1 + length) });
    at = end + 1 + length;
  }
  return frames;
}

/** Describes why a Worker did not start. Anything but a syntax error of the program is rethrown as an engine fault. */
export function describeLoadFailure(thrown: unknown): ThrownMessage {
  if (thrown instanceof ImportRefused) {
    return { kind: "syntax", name: "SyntaxError", message: thrown.message, stack: `SyntaxError: ${thrown.message}` };
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const [, message, position] = NOT_COMPILED.exec(text) ?? [];
  if (message === undefined) throw thrown;
  const frame = position === undefined ? "" : `\n    at ${position}`;
  return { kind: "syntax", name: "SyntaxError", message, stack: `SyntaxError: ${message}${frame}` };
}

/** With the author's positions. */
export function withAuthorStack(thrown: ThrownMessage): ThrownMessage {
  return { ...thrown, stack: mapFirstLine(thrown.stack, HEAD).slice(0, ERROR_CHARS) };
}
