/**
 * The host's end of the wire of one child. Most children inherit one end of a pair. A child that can only accept
 * connections inherits a listening socket on which ours waits; its path is removed before others can use it.
 */

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";

import { WIRE_DESCRIPTOR } from "./engine.ts";

/** The child's end of the wire, and a way to get the other end after the start. */
export interface WireEnds {
  readonly stdio: "pipe" | number;
  take(spawned: ChildProcess): Duplex;
}

const INHERITED: WireEnds = { stdio: "pipe", take: ({ stdio }) => parseDuplex(stdio[WIRE_DESCRIPTOR]) };

/** Synchronous: no other code of this process runs between listening and connecting. */
export function openWire(isAccepted: boolean): WireEnds {
  if (!isAccepted) return INHERITED;
  const folder = mkdtempSync(join(tmpdir(), "glovebox-wire-")); // for this user only
  const path = join(folder, "wire");
  const server = createServer();
  server.on("error", () => undefined); // without a descriptor, which is noticed below
  server.listen({ path, exclusive: true });
  return {
    stdio: parseDescriptor(server),
    take() {
      const wire = connect(path); // waits in the queue of the socket until the child takes it
      server.close();
      rmSync(folder, { recursive: true, force: true });
      return wire;
    },
  };
}

function parseDuplex(stream: unknown): Duplex {
  if (!(stream instanceof Duplex)) throw new TypeError(`Descriptor ${WIRE_DESCRIPTOR} of the child is not a pipe`);
  return stream;
}

/** Node has no public access to a server's descriptor; a child needs only the number. */
function parseDescriptor(server: Server): number {
  const { _handle: handle } = server as unknown as { readonly _handle?: { readonly fd?: number } };
  if (handle?.fd === undefined || handle.fd < 0) throw new TypeError("The socket has no descriptor");
  return handle.fd;
}
