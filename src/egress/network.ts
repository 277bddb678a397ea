/** The machine's own resolver and sockets, as the two powers that egress needs. Tests put their own in this place. */

import { lookup } from "node:dns/promises";
import { connect as connectTo } from "node:net";
import type { Socket } from "node:net";

/** An open connection, and who is really at its other end. */
export interface Connected {
  readonly socket: Socket;
  readonly peer: string | undefined;
}

/** Whose name it is: names that programs choose wait for each other, and never hold up those of upstreams. */
export type Lane = "program" | "upstream";

/** Both are asked once for each step of a request. Neither decides anything. */
export interface Network {
  /** Every address of a name. Rejects, or answers with none, when there is none. */
  resolve(name: string, lane: Lane): Promise<readonly string[]>;
  /** To an address, never to a name. Rejects when it fails or `signal` fires. */
  connect(address: string, port: number, signal: AbortSignal): Promise<Connected>;
  /** Authorities to trust instead of the usual ones, in PEM. */
  readonly authorities?: string;
}

/**
 * The system's resolver holds a thread of the platform's few while it waits. Whoever makes names slow to resolve must
 * not take all of them, which also read and write files.
 */
const MAX_LOOKUPS = { program: 2, upstream: 1 } as const;

/** The system's resolver, so that the hosts file and the names of a local network count as they do elsewhere. */
export function createNetwork(): Network {
  const program = takeTurns(MAX_LOOKUPS.program, resolveName);
  const upstream = takeTurns(MAX_LOOKUPS.upstream, resolveName);
  return { resolve: (name, lane) => (lane === "program" ? program(name) : upstream(name)), connect: openSocket };
}

/** At most so many at once, the others in the order of their coming. Who asks for the same meanwhile shares the answer. */
export function takeTurns<Answer>(
  atOnce: number,
  act: (key: string) => Promise<Answer>,
): (key: string) => Promise<Answer> {
  const underWay = new Map<string, Promise<Answer>>();
  const waiting: (() => void)[] = [];
  let free = atOnce;
  const run = async (key: string): Promise<Answer> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((turn) => waiting.push(turn));
    try {
      return await act(key);
    } finally {
      underWay.delete(key);
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
  return (key) => {
    const answer = underWay.get(key) ?? run(key);
    underWay.set(key, answer);
    return answer;
  };
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
