/**
 * Connects to a checked address and to nothing else: directly, or through the operator's proxy, which is never given a
 * name. Reuses connections for requests to the same host at the same checked addresses, and for no others.
 */

import { once } from "node:events";
import { Agent } from "node:http";
import type { ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as startTls } from "node:tls";

import { GloveboxError, defined } from "../../domain/index.ts";
import { untilAborted } from "../../timing/index.ts";

import { denied } from "../check-url.ts";
import type { Network } from "../network.ts";
import { classifyAddress, toCanonicalAddress } from "./address.ts";
import type { OpenTunnel } from "./open-tunnel.ts";
import type { CheckedTarget } from "./resolve-host.ts";

/** Shorter than servers usually wait, so that a request rarely gets a connection that is being closed. */
const IDLE_MS = 4_000;
const MAX_IDLE_PER_TARGET = 8;
const MAX_IDLE = 64;
/** Time limit for one address including the handshake; then the next one is tried. */
const CONNECT_MS = 10_000;
const MAX_ATTEMPTS = 4;

/** What connections are made with. */
export interface ConnectionPowers {
  readonly network: Network;
  /** An HTTP proxy that supports CONNECT. Private addresses are reached without it. */
  readonly proxy?: { readonly resolve: () => Promise<CheckedTarget>; readonly openTunnel: OpenTunnel };
  /** Fires when no connection may be opened any more. */
  readonly closing: AbortSignal;
}

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

/** Returns a connection to the first address that answers. Rejects with the failure of the last one, or a refusal. */
export async function openConnection(target: CheckedTarget, powers: ConnectionPowers): Promise<Socket> {
  const { host, port, isSecure } = target;
  let failure: unknown;
  for (const address of target.addresses.slice(0, MAX_ATTEMPTS)) {
    powers.closing.throwIfAborted();
    const late = AbortSignal.timeout(CONNECT_MS);
    const signal = AbortSignal.any([late, powers.closing]);
    try {
      const socket = await reach(address, port, { ...powers, signal });
      return isSecure ? await secure(socket, host, { ...powers, signal }) : socket;
    } catch (thrown) {
      if (thrown instanceof GloveboxError) throw thrown;
      failure = late.aborted ? Object.assign(new Error("No answer", { cause: thrown }), { code: "ETIMEDOUT" }) : thrown;
    }
  }
  throw failure;
}

type AttemptPowers = ConnectionPowers & { readonly signal: AbortSignal };

async function reach(address: string, port: number, { network, proxy, signal }: AttemptPowers): Promise<Socket> {
  if (!proxy || classifyAddress(address) !== "public") return dial(network, { address, port }, signal);
  const via = await proxy.resolve();
  const socket = await dial(network, { address: via.addresses[0] ?? "", port: via.port }, signal);
  return proxy.openTunnel(socket, `${address.includes(":") ? `[${address}]` : address}:${port}`, signal);
}

/** The peer must be the address that was checked, whatever the system did in between. */
async function dial(
  network: Network,
  { address, port }: { readonly address: string; readonly port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const { socket, peer } = await network.connect(address, port, signal);
  if (peer !== undefined && toCanonicalAddress(peer) === address) return socket;
  socket.destroy();
  throw denied("The connection goes to another address than the checked one", "Check the routing of this machine");
}

/** The certificate must be for the name in the request, not for the address. */
async function secure(socket: Socket, host: string, { network, signal }: AttemptPowers): Promise<Socket> {
  const servername = toCanonicalAddress(host) === undefined ? host : undefined;
  const options = defined({ servername, ca: network.authorities });
  const tls = startTls({ socket, host, ...options, ALPNProtocols: ["http/1.1"] });
  try {
    signal.throwIfAborted();
    await untilAborted(once(tls, "secureConnect"), signal);
    return tls;
  } catch (thrown) {
    tls.destroy();
    throw thrown;
  }
}
