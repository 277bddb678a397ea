/** Reuses connections for requests to the same host at the same checked addresses, and for no others. */

import { Agent } from "node:http";
import type { ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";

import { openConnection } from "./open-connection.ts";
import type { ConnectionPowers } from "./open-connection.ts";
import type { CheckedTarget } from "./resolve-host.ts";

/** Shorter than servers usually wait, so that a request rarely gets a connection that is being closed. */
const IDLE_MS = 4_000;
const MAX_IDLE_PER_TARGET = 8;
const MAX_IDLE = 64;

/** The whole target as one string: the key of a connection, and what it is opened from. */
export function toTargetKey({ isSecure, host, port, addresses }: CheckedTarget): string {
  return JSON.stringify([isSecure, host, port, addresses]);
}

/** Requests pass the key of their target in the option `host`, so the platform never resolves a name. */
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
    openConnection(trustTargetKey(options.host ?? ""), this.#powers).then(
      (socket) => callback(null, socket),
      // The declared type requires a stream beside an error; the platform reads the error first.
      (thrown: unknown) => Reflect.apply(callback, undefined, [thrown]),
    );
    return undefined;
  }

  /** A program that visits many hosts must not fill the gateway with idle connections. */
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    // The platform returns false when the server announced that it will close; the declared type omits that.
    const isKept: unknown = super.keepSocketAlive(socket);
    return idle < MAX_IDLE && isKept === true;
  }
}

/** Reads only what `toTargetKey` wrote. */
function trustTargetKey(key: string): CheckedTarget {
  const parts: readonly [boolean, string, number, readonly string[]] = JSON.parse(key);
  const [isSecure, host, port, addresses] = parts;
  return { isSecure, host, port, addresses };
}
