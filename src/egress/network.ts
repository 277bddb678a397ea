/** The machine's own resolver and sockets, the two powers that egress needs. Tests pass in their own. */

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectTo } from "node:net";
import type { Socket } from "node:net";

import { untilAborted } from "../timing/index.ts";

/** An open connection, and the actual address of its peer. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly peer: string | undefined;
}

/** Who chose the name: names of programs wait for each other, and never delay those of upstreams. */
export type Lane = "program" | "upstream";

/** Both are called once for each step of a request. Neither makes decisions. */
export interface Network {
  /** Returns every address of a name. Rejects or returns none if it has none. Stops waiting when `signal` fires. */
  resolve(name: string, asking: { readonly lane: Lane; readonly signal: AbortSignal }): Promise<readonly string[]>;
  /** Connects to an address, never to a name. Rejects on failure or when `signal` fires. */
  connect(address: string, port: number, signal: AbortSignal): Promise<OpenSocket>;
  /** Certificate authorities to trust instead of the usual ones, in PEM. */
  readonly authorities?: string;
}

/**
 * The system's resolver blocks one of few platform threads while it waits. Slow names must not take all of them,
 * because they also read and write files.
 */
const MAX_LOOKUPS = { program: 2, upstream: 1 } as const;

/** The system's resolver, so that the hosts file and names of the local network work as elsewhere. */
export function createNetwork(): Network {
  const lanes = {
    program: takeTurns(MAX_LOOKUPS.program, resolveName),
    upstream: takeTurns(MAX_LOOKUPS.upstream, resolveName),
  };
  return { resolve: (name, { lane, signal }) => lanes[lane](name, signal), connect: openSocket };
}

interface SharedLookup<Answer> {
  readonly answer: Promise<Answer>;
  /** The number of callers that wait. If all of them leave before the lookup starts, it never starts. */
  askers: number;
  start: (() => void) | undefined;
}

/** Runs at most `atOnce` at a time, the others in order. Concurrent callers with the same key share one result. */
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
    answer.catch(() => undefined); // callers that have left are not affected by a failure
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

async function openSocket(address: string, port: number, signal: AbortSignal): Promise<OpenSocket> {
  signal.throwIfAborted();
  const socket = connectTo({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
  try {
    await untilAborted(once(socket, "connect"), signal);
    return { socket, peer: socket.remoteAddress };
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}
