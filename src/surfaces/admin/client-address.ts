/** Where a request comes from. Headers of a proxy count only if the connection comes from a trusted one. */

import { BlockList, isIP } from "node:net";

export interface ClientAddress {
  /** For records. */
  readonly origin: string;
  /** True if the browser used https, as far as can be known. */
  readonly isEncrypted: boolean;
  /** True if any header says that the request was forwarded, trusted or not: then the peer is not the client. */
  readonly isForwarded: boolean;
}

const FORWARDING = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

export function createClientAddress(trustedProxies: readonly string[]) {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [address = "", bits] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean => {
    const plain = toPlain(address);
    const version = isIP(plain);
    return version !== 0 && trusted.check(plain, version === 6 ? "ipv6" : "ipv4");
  };
  return (headers: Headers, peer: { readonly address: string; readonly isEncrypted: boolean }): ClientAddress => {
    const isForwarded = FORWARDING.some((name) => headers.has(name));
    const own = { origin: toPlain(peer.address), isEncrypted: peer.isEncrypted, isForwarded };
    if (!isTrusted(peer.address)) return own;
    // From right to left: what a client wrote itself stands left of what the first trusted proxy added.
    const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
    const client = hops.findLast((hop) => !isTrusted(hop));
    const origin = client !== undefined && isIP(toPlain(client)) !== 0 ? toPlain(client) : own.origin;
    return { ...own, origin, isEncrypted: peer.isEncrypted || headers.get("x-forwarded-proto") === "https" };
  };
}

/** Without the brackets and ports of some proxies, and a mapped IPv4 address as IPv4. */
function toPlain(address: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(address) ?? [];
  const bare = bracketed ?? address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  return bare.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
}
