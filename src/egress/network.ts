/** The machine's own resolver and sockets, as the two powers that egress needs. Tests put their own in this place. */

import { lookup } from "node:dns/promises";
import { connect as connectTo } from "node:net";
import type { Socket } from "node:net";

/** An open connection, and who is really at its other end. */
export interface Connected {
  readonly socket: Socket;
  readonly peer: string | undefined;
}

/** Both are asked once for each step of a request. Neither decides anything. */
export interface Network {
  /** Every address of a name. Rejects, or answers with none, when there is none. */
  resolve(name: string): Promise<readonly string[]>;
  /** To an address, never to a name. Rejects when it fails or `signal` fires. */
  connect(address: string, port: number, signal: AbortSignal): Promise<Connected>;
  /** Authorities to trust instead of the usual ones, in PEM. */
  readonly authorities?: string;
}

/** The system's resolver, so that the hosts file and the names of a local network count as they do elsewhere. */
export function createNetwork(): Network {
  return { resolve: resolveName, connect: openSocket };
}

async function resolveName(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function openSocket(address: string, port: number, signal: AbortSignal): Promise<Connected> {
  const opened = Promise.withResolvers<Connected>();
  if (signal.aborted) return Promise.reject(signal.reason);
  const socket = connectTo({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
  const stop = (): void => {
    socket.destroy();
    opened.reject(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  socket.once("error", opened.reject);
  socket.once("connect", () => {
    socket.off("error", opened.reject);
    opened.resolve({ socket, peer: socket.remoteAddress });
  });
  return opened.promise.finally(() => signal.removeEventListener("abort", stop));
}
