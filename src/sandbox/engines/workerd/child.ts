/**
 * The main loop of a workerd child, as `serve-child.ts` is for the others: the Worker that owns the wire loads a Dynamic
 * Worker for each program, one after the other, and carries frames between it and the host. Only it can load Workers;
 * programs send it nothing but strings. No Worker can be prepared, because it contains its program; the first one is a
 * rehearsal.
 */

import { createFrameReader, encodeFrame } from "../../frames.ts";
import type { Frame } from "../../frames.ts";
import { REHEARSAL, TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage } from "../../wire.ts";
import { trustStart } from "../realm.ts";
import { toWorkerCode } from "./dynamic-worker.ts";
import type { WorkerLoader } from "./dynamic-worker.ts";
import { runWorker } from "./run-worker.ts";

/** Replies may be as large as the largest configurable result; the host is trusted to keep to it. */
const MAX_FRAME_BYTES = 80 * 1024 * 1024;

/** The engine's own kind of socket. */
interface Wire {
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

/** The entry that `workerd.capnp` names; the engine calls `connect` for the one connection that waits. */
export const child = {
  connect: (wire: Wire, { LOADER }: { readonly LOADER: WorkerLoader }): Promise<void> => serveWire(wire, LOADER),
};

/** Runs until the host is gone. */
async function serveWire(wire: Wire, loader: WorkerLoader): Promise<void> {
  const frames = openFrames(wire);
  const run = (start: StartMessage, atMs: number, wireOfRun: FrameWire): Promise<boolean> => {
    const open = () => loader.load(toWorkerCode(start.javascript)).getEntrypoint("guestWorker").open(null);
    return runWorker(open, wireOfRun, start, atMs);
  };
  await run(REHEARSAL, 0, SILENT);
  sendEmpty(frames, TO_HOST.READY);
  for (let frame = await frames.receive(); frame; frame = await frames.receive()) {
    if (frame.kind === TO_GUEST.PING) sendEmpty(frames, TO_HOST.PONG);
    if (frame.kind !== TO_GUEST.START) continue; // a late answer to the previous execution
    const isPinged = await run(trustStart(frame.text), frame.atMs, frames);
    sendEmpty(frames, TO_HOST.READY);
    if (isPinged) sendEmpty(frames, TO_HOST.PONG);
  }
}

function sendEmpty(frames: FrameWire, kind: number): void {
  frames.send(kind, 0, "");
  frames.flush();
}

/** The rehearsal needs no host. */
const SILENT: FrameWire = {
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
