/** Classifies IP addresses. Pure, and closed: an address that is not known to be public is not public. */

import { BlockList, isIP } from "node:net";

/**
 * `public` addresses need no grant. `private` ones do: loopback and the ranges of local networks. `special` is
 * everything else, which no name may lead to: link-local with the metadata services of clouds, multicast, reserved and
 * documentation ranges, and every IPv6 form that contains an IPv4 address.
 */
export type AddressKind = "public" | "private" | "special";

// IANA special-purpose registries: RFC 6890 and its updates.
const v4Private = toList("ipv4", [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
]);
const v4Special = toList("ipv4", [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  // Cloud services in ordinary ranges: Azure's host agent, Alibaba's metadata.
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
]);
const v6Global = toList("ipv6", [["2000::", 3]]);
const v6Private = toList("ipv6", [
  ["::1", 128],
  ["fc00::", 7],
]);
/** In the global range without being public servers: Teredo, ORCHID, benchmarking, documentation, 6to4. */
const v6Special = toList("ipv6", [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  // Unassigned in IANA's registry of global unicast addresses, including the former 6bone and documentation.
  ["2d00::", 8],
  ["2e00::", 7],
  ["3000::", 4],
  ["2620:4f:8000::", 48],
  // Metadata services of AWS and Google in ranges for local networks.
  ["fd00:ec2::", 32],
  ["fd20:ce::", 32],
]);

/** For an address as a resolver or a socket returns it. Anything else is `special`, including a zone id. */
export function classifyAddress(address: string): AddressKind {
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 4) {
    if (v4Special.check(address, "ipv4")) return "special";
    return v4Private.check(address, "ipv4") ? "private" : "public";
  }
  if (family !== 6 || v6Special.check(address, "ipv6")) return "special";
  if (v6Private.check(address, "ipv6")) return "private";
  return v6Global.check(address, "ipv6") && !isIsatap(address) ? "public" : "special";
}

/** The canonical spelling of an address, for comparisons; `undefined` for anything else. */
export function toCanonicalAddress(text: string): string | undefined {
  if (text.includes("%") || isIP(text) === 0) return undefined;
  return isIP(text) === 4 ? text : URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
}

/** An interface identifier that contains an IPv4 address below any prefix (RFC 5214 §6.1). */
function isIsatap(address: string): boolean {
  const [head = "", tail] = (toCanonicalAddress(address) ?? "").split("::");
  const [left, right] = [head, tail ?? ""].map((part) => part.split(":").filter(Boolean));
  const groups = [...(left ?? []), ...Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill("0")];
  const [scope = "", mark] = [...groups, ...(right ?? [])].slice(4, 6);
  return mark === "5efe" && /^(?:0|[123]00)$/.test(scope);
}

function toList(family: "ipv4" | "ipv6", subnets: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
