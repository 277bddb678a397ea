/** One program in one Dynamic Worker, from its start to its last frame. */

import { TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage, ThrownMessage } from "../../wire.ts";
import { STUCK, trustThrown } from "../realm.ts";
import type { GuestSession } from "./dynamic-worker.ts";
import { describeLoadFailure, withAuthorStack } from "./explain-worker.ts";
import { splitFrames } from "./split-frames.ts";
import type { FrameWire } from "./serve-wire.ts";

/** What one message between Workers may hold is limited; so much of a text goes in one. */
const PIECE_CHARS = 4 * 1024 * 1024;

/** The engine refuses an `import` in a turn of its own; a program that waits for that does not wait for ever. */
const SETTLE_MS = 10;

/** A program, the wire that it speaks on, and the time at which it begins. */
export interface WorkerTask {
  readonly frames: FrameWire;
  readonly start: StartMessage;
  readonly atMs: number;
}

/** Returns when the program has ended in any way; the last frame says how. */
export async function runWorker(open: () => Promise<GuestSession>, { frames, start, atMs }: WorkerTask): Promise<void> {
  const run = new WorkerRun(frames);
  try {
    using guest = await open();
    await feed(guest, JSON.stringify({ ...start, javascript: "" }));
    await guest.start(atMs);
    while (run.forward(await listen(guest, run))) await deliverAll(guest, frames, run);
  } catch (thrown) {
    run.end(describeLoadFailure(thrown));
    frames.flush();
  }
}

/** The program's messages of this turn; without open requests, also those a little later. */
async function listen(guest: GuestSession, run: WorkerRun): Promise<string> {
  const said = await collect(guest);
  if (said !== "" || run.waiting > 0) return said;
  await new Promise((done) => setTimeout(done, SETTLE_MS));
  return collect(guest);
}

/** Everything that has arrived; each frame is a turn of the program of its own. */
async function deliverAll(guest: GuestSession, frames: FrameWire, run: WorkerRun): Promise<void> {
  for (let frame = await frames.receive(); frame; frame = frames.poll()) {
    if (frame.kind === TO_GUEST.PING) {
      run.isAsked = true;
      continue;
    }
    run.waiting -= 1;
    await feed(guest, frame.text);
    await guest.deliver(frame.kind, frame.id, frame.atMs);
  }
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
  /** The host wants to know when the program has done what it can. */
  isAsked = false;
  #isOver = false;

  constructor(frames: FrameWire) {
    this.#frames = frames;
  }

  /** Hands on what the program said; false when that was its end. */
  forward(said: string): boolean {
    for (const { kind, id, text } of splitFrames(said)) {
      if (kind === TO_HOST.CALL || kind === TO_HOST.TIMER) this.waiting += 1;
      if (kind === TO_HOST.THREW) this.end(trustThrown(text));
      else if (kind === TO_HOST.DONE || kind === TO_HOST.OVERRUN) this.#sendLast(kind, text);
      else this.#send(kind, id, text);
    }
    // All input comes from the host, so a program without an open request can never continue.
    if (this.waiting === 0) this.end(STUCK);
    if (this.isAsked) this.#send(TO_HOST.PONG, 0, "");
    this.isAsked = false;
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
