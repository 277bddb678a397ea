/** Keeps connections for the next request to the same host, at the same checked addresses, and for no other. */

import { Agent } from "node:http";
import type { ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";

import { openConnection } from "./open-connection.ts";
import type { ConnectionPowers } from "./open-connection.ts";
import type { CheckedTarget } from "./resolve-host.ts";

/** Shorter than what servers usually keep, so that a request seldom meets a connection that is being closed. */
const IDLE_MS = 4_000;
const MAX_IDLE_PER_TARGET = 8;
const MAX_IDLE = 64;

/** The whole target as one text: what a connection is filed under, and what it is opened from. */
export function toTargetKey({ isSecure, host, port, addresses }: CheckedTarget): string {
  return JSON.stringify([isSecure, host, port, addresses]);
}

/** Requests name their target by its key in the option `host`; the platform never gets a name to look up. */
export class PinnedAgent extends Agent {
  readonly #powers: ConnectionPowers;

  constructor(powers: ConnectionPowers) {
    super({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_TARGET, maxTotalSockets: Infinity });
    this.#powers = powers;
  }

  override getName(options?: { readonly host?: string }): string {
    return options?.host ?? "";
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    openConnection(parseTargetKey(options.host ?? ""), this.#powers).then(
      (socket) => callback(null, socket),
      // The declared type wants a stream beside an error; the platform reads the error first.
      (thrown: unknown) => Reflect.apply(callback, undefined, [thrown]),
    );
    return undefined;
  }

  /** A program that goes through many hosts must not fill the gateway with idle connections. */
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    // The platform's own answer is no when the server said that it will close soon; its declared type leaves that out.
    const isKept: unknown = super.keepSocketAlive(socket);
    return idle < MAX_IDLE && isKept === true;
  }
}

/** Only what `toTargetKey` wrote. */
function parseTargetKey(key: string): CheckedTarget {
  const [isSecure, host, port, addresses] = JSON.parse(key) as [boolean, string, number, readonly string[]];
  return { isSecure, host, port, addresses };
}
