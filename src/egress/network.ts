/** The machine's own resolver and sockets, as the two powers that egress needs. Tests put their own in this place. */

import { lookup } from "node:dns/promises";
import { connect as connectTo } from "node:net";
import type { Socket } from "node:net";

/** An open connection, and who is really at its other end. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly peer: string | undefined;
}

/** Whose name it is: names that programs choose wait for each other, and never hold up those of upstreams. */
export type Lane = "program" | "upstream";

/** Both are asked once for each step of a request. Neither decides anything. */
export interface Network {
  /** Every address of a name. Rejects, or answers with none, when there is none. Nobody waits once `signal` fired. */
  resolve(name: string, asking: { readonly lane: Lane; readonly signal: AbortSignal }): Promise<readonly string[]>;
  /** To an address, never to a name. Rejects when it fails or `signal` fires. */
  connect(address: string, port: number, signal: AbortSignal): Promise<OpenSocket>;
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
  return {
    resolve: (name, { lane, signal }) => (lane === "program" ? program(name, signal) : upstream(name, signal)),
    connect: openSocket,
  };
}

interface SharedLookup<Answer> {
  readonly answer: Promise<Answer>;
  /** How many wait for the answer; when nobody does any more before it is its turn, it never is. */
  askers: number;
  start: (() => void) | undefined;
}

/** At most so many at once, the others in the order of their coming. Who asks for the same meanwhile shares the answer. */
export function takeTurns<Answer>(
  atOnce: number,
  act: (key: string) => Promise<Answer>,
): (key: string, signal: AbortSignal) => Promise<Answer> {
  const turns = new Map<string, SharedLookup<Answer>>();
  let free = atOnce;
  const next = (): void => {
    const waiting = free > 0 ? [...turns.values()].find(({ start }) => start) : undefined;
    if (!waiting) return;
    free -= 1;
    waiting.start?.();
    waiting.start = undefined;
  };
  const open = (key: string): SharedLookup<Answer> => {
    const begun = Promise.withResolvers<void>();
    const answer = begun.promise
      .then(() => act(key))
      .finally(() => {
        turns.delete(key);
        free += 1;
        next();
      });
    answer.catch(() => undefined); // whoever has left does not hear of a failure
    const turn = { answer, askers: 0, start: begun.resolve };
    turns.set(key, turn);
    return turn;
  };
  return (key, signal) => {
    const turn = turns.get(key) ?? open(key);
    turn.askers += 1;
    const leave = (): void => {
      turn.askers -= 1;
      if (turn.askers === 0 && turn.start && turns.get(key) === turn) turns.delete(key);
    };
    signal.addEventListener("abort", leave, { once: true });
    next();
    return turn.answer.finally(() => signal.removeEventListener("abort", leave));
  };
}

async function resolveName(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function openSocket(address: string, port: number, signal: AbortSignal): Promise<OpenSocket> {
  const opened = Promise.withResolvers<OpenSocket>();
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
