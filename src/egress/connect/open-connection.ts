/**
 * Connects to a checked address and to nothing else: directly, or through the operator's proxy, which is never given a
 * name.
 */

import type { Socket } from "node:net";
import { connect as startTls } from "node:tls";
import type { TLSSocket } from "node:tls";

import { GloveboxError } from "../../domain/index.ts";

import { classifyAddress, toCanonicalAddress } from "./address.ts";
import { denied } from "../check-url.ts";
import type { OpenSocket, Network } from "../network.ts";
import { openTunnel } from "./open-tunnel.ts";
import type { ProxyCredentials } from "./open-tunnel.ts";
import type { CheckedTarget } from "./resolve-host.ts";

/** Time limit for one address including the handshake; then the next one is tried. */
const CONNECT_MS = 10_000;
const MAX_ATTEMPTS = 4;

/** What connections are made with. */
export interface ConnectionPowers {
  readonly network: Network;
  /** An HTTP proxy that supports CONNECT. Private addresses are reached without it. */
  readonly proxy?: { readonly resolve: () => Promise<CheckedTarget>; readonly credentials: ProxyCredentials };
  /** Fires when no connection may be opened any more. */
  readonly closing: AbortSignal;
}

/**
 * Returns a connection to the first address that answers. Rejects with the failure of the last one, or with a refusal.
 */
export async function openConnection(target: CheckedTarget, powers: ConnectionPowers): Promise<Socket> {
  let failure: unknown;
  for (const address of target.addresses.slice(0, MAX_ATTEMPTS)) {
    powers.closing.throwIfAborted();
    const late = AbortSignal.timeout(CONNECT_MS);
    const signal = AbortSignal.any([late, powers.closing]);
    try {
      const socket = await reach({ ...target, address }, powers, signal);
      return target.isSecure ? await secure(socket, target, { powers, signal }) : socket;
    } catch (thrown) {
      if (thrown instanceof GloveboxError) throw thrown;
      failure = late.aborted ? Object.assign(new Error("No answer", { cause: thrown }), { code: "ETIMEDOUT" }) : thrown;
    }
  }
  throw failure;
}

type ConnectionAttempt = CheckedTarget & { readonly address: string };

async function reach(
  { address, port }: ConnectionAttempt,
  { network, proxy }: ConnectionPowers,
  signal: AbortSignal,
): Promise<Socket> {
  if (!proxy || classifyAddress(address) !== "public") return dial(network, address, { port, signal });
  const via = await proxy.resolve();
  const socket = await dial(network, via.addresses[0] ?? "", { port: via.port, signal });
  const authority = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  return openTunnel(socket, authority, { credentials: proxy.credentials, signal });
}

/** The peer must be the address that was checked, whatever the system did in between. */
async function dial(
  network: Network,
  address: string,
  { port, signal }: { readonly port: number; readonly signal: AbortSignal },
): Promise<Socket> {
  const { socket, peer }: OpenSocket = await network.connect(address, port, signal);
  if (peer !== undefined && toCanonicalAddress(peer) === address) return socket;
  socket.destroy();
  throw denied("The connection goes to another address than the checked one", "Check the routing of this machine");
}

/** The certificate must be for the name in the request, not for the address. */
function secure(
  socket: Socket,
  { host }: CheckedTarget,
  { powers, signal }: { readonly powers: ConnectionPowers; readonly signal: AbortSignal },
): Promise<TLSSocket> {
  const opened = Promise.withResolvers<TLSSocket>();
  const isName = toCanonicalAddress(host) === undefined;
  const { authorities } = powers.network;
  const tls = startTls({
    socket,
    host,
    ...(isName && { servername: host }),
    ...(authorities !== undefined && { ca: authorities }),
    ALPNProtocols: ["http/1.1"],
  });
  const stop = (): void => void tls.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  tls.once("error", opened.reject);
  tls.once("secureConnect", () => {
    tls.off("error", opened.reject);
    opened.resolve(tls);
  });
  return opened.promise.finally(() => signal.removeEventListener("abort", stop));
}
