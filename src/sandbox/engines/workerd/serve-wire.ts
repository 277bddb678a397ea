/**
 * The life of a workerd child, as `serve-child.ts` is for the others: programs one after the other, each in a Worker of
 * its own. Nothing can be made ahead of need, because the program is part of the Worker; the first one is a rehearsal.
 */

import { createFrameReader, encodeFrame } from "../../frames.ts";
import type { Frame } from "../../frames.ts";
import { TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage } from "../../wire.ts";
import { toWorkerCode } from "./dynamic-worker.ts";
import { trustStart } from "../realm.ts";
import type { WorkerLoader } from "./dynamic-worker.ts";
import { runWorker } from "./run-worker.ts";

/** Replies may be as large as the largest configurable result; the host is trusted to keep to it. */
const MAX_FRAME_BYTES = 80 * 1024 * 1024;

/** The engine's own kind of socket. */
export interface Wire {
  readonly readable: AsyncIterable<Uint8Array>;
  readonly writable: { getWriter(): { write(bytes: Uint8Array): Promise<void> } };
}

/** Both ends of the wire, frame by frame. */
export interface FrameWire {
  /** Waits for the host; `undefined` when it is gone. */
  receive(): Promise<Frame | undefined>;
  /** A frame that has arrived already. */
  poll(): Frame | undefined;
  /** Leaves with the next `flush`: the frames of one turn cost one write. */
  send(kind: number, id: number, text: string): void;
  flush(): void;
}

/** Runs until the host is gone. */
export async function serveWire(wire: Wire, loader: WorkerLoader): Promise<void> {
  const frames = openFrames(wire);
  const run = async (start: StartMessage, atMs: number, on: FrameWire): Promise<void> => {
    const open = () => loader.load(toWorkerCode(start.javascript)).getEntrypoint("guestWorker").open(null);
    await runWorker(open, {
      frames: on,
      start,
      atMs,
    });
  };
  await run(REHEARSED, 0, REHEARSAL);
  tell(frames, TO_HOST.READY);
  for (let frame = await frames.receive(); frame; frame = await frames.receive()) {
    if (frame.kind === TO_GUEST.PING) tell(frames, TO_HOST.PONG);
    if (frame.kind !== TO_GUEST.START) continue; // late answers to the execution before
    const start = trustStart(frame.text);
    await run(start, frame.atMs, frames);
    tell(frames, TO_HOST.READY);
  }
}

function tell(frames: FrameWire, kind: number): void {
  frames.send(kind, 0, "");
  frames.flush();
}

/** A program that returns at once: what the engine does once for all Workers is done when the host measures. */
const REHEARSED: StartMessage = {
  javascript: "",
  namespaces: {},
  input: null,
  seed: [1, 2, 3, 4],
  limits: {
    wallMs: 1_000,
    memoryBytes: 1_000_000,
    outputBytes: 1_000,
    valueBytes: 1_000,
    argumentBytes: 1_000,
    depth: 64,
  },
};
const REHEARSAL: FrameWire = {
  receive: () => Promise.resolve(undefined),
  poll: () => undefined,
  send: () => undefined,
  flush: () => undefined,
};

function openFrames({ readable, writable }: Wire): FrameWire {
  const reader = createFrameReader(MAX_FRAME_BYTES);
  const pieces = readable[Symbol.asyncIterator]();
  const writer = writable.getWriter();
  const waiting: Buffer[] = [];
  return {
    poll: () => reader.next(),
    async receive() {
      for (;;) {
        const frame = reader.next();
        if (frame) return frame;
        const { done, value } = await pieces.next();
        if (done) return undefined;
        reader.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      }
    },
    send: (kind, id, text) => void waiting.push(encodeFrame(kind, id, 0, text)),
    // If the host is gone, this process ends anyway.
    flush: () => void writer.write(Buffer.concat(waiting.splice(0))).catch(() => undefined),
  };
}
