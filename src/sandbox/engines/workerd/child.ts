/**
 * The Worker that owns the wire of a workerd child: loads a Dynamic Worker for each program and carries frames between
 * it and the host, one program at a time. It is the only one that can load Workers; what it hears of a program is text.
 */

import { serveWire } from "./serve-wire.ts";
import type { Wire } from "./serve-wire.ts";
import type { WorkerLoader } from "./dynamic-worker.ts";

interface WorkerEnvironment {
  readonly LOADER: WorkerLoader;
}

/** The entry that `workerd.capnp` names; the engine calls `connect` for the one connection that waits. */
export const child = {
  connect: (wire: Wire, { LOADER }: WorkerEnvironment): Promise<void> => serveWire(wire, LOADER),
};
