/** Where programs may send requests: the operator's policy, and the hosts that it names. */

/** In both open modes, a host in a private network needs a grant of exactly that host and port. */
export type NetworkPolicy = (
  | { readonly mode: "blocked" }
  | { readonly mode: "allowed"; readonly hosts: readonly HostPattern[]; readonly grants: readonly HostPort[] }
  | { readonly mode: "unrestricted"; readonly grants: readonly HostPort[] }
) & {
  /** The setting that an operator changes, for hints; `sandbox.networkPolicy` by default. */
  readonly setting?: string;
};

/** Where the requests of one upstream may go. Without a policy: its own origin, or nowhere if it has none. */
export interface UpstreamNetwork {
  readonly policy?: NetworkPolicy;
  /** Policies by tool pattern; `policy` and every matching one must allow a request. */
  readonly tools: readonly { readonly pattern: string; readonly policy: NetworkPolicy }[];
}

/** Names in their canonical form: lower case, punycode, no dot at the end. */
export interface HostPattern {
  readonly name: string;
  /** True for `*.name`: every name below it, and not the name itself. */
  readonly isBelow: boolean;
  /** `null` means 443 for https and 80 for http. */
  readonly port: number | null;
}

/** A host and a port. The host is a canonical name or address; an IPv6 address has no brackets. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Names whose meaning depends on the machine or network; only a grant can name them. */
const LOCAL = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|corp|home|private|home\.arpa)$/;
/** Metadata services of clouds under names that look public. */
const METADATA = /^metadata\.(?:platformequinix\.com|packet\.net|tencentyun\.com)$/;

/** True for a name that public DNS should not resolve, or that resolves to the machine itself. */
export function isLocalName(host: string): boolean {
  return !host.includes(":") && (!host.includes(".") || LOCAL.test(host) || METADATA.test(host));
}

/** True if a pattern covers a request. A pattern without a port means the default port of the scheme. */
export function matchesHost(pattern: HostPattern, place: HostPort, scheme: string): boolean {
  if (place.port !== (pattern.port ?? usualPort(scheme))) return false;
  return pattern.isBelow ? place.host.endsWith(`.${pattern.name}`) : place.host === pattern.name;
}

function usualPort(scheme: string): number {
  return scheme === "https:" ? 443 : 80;
}

/** Returns the canonical host and port of a URL, which are compared with rules and resolved. */
export function toPlace(url: URL): HostPort {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return { host, port: url.port === "" ? usualPort(url.protocol) : Number(url.port) };
}
