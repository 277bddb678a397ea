/** Where programs may send requests: the operator's rule, and the names that it is made of. */

/**
 * `allowed` names hosts; `unrestricted` is every public host. What lies in a private network is reached only by a grant
 * of exactly that host and port, in either of them.
 */
export type NetworkPolicy = (
  | { readonly mode: "blocked" }
  | { readonly mode: "allowed"; readonly hosts: readonly HostPattern[]; readonly grants: readonly HostPort[] }
  | { readonly mode: "unrestricted"; readonly grants: readonly HostPort[] }
) & {
  /** Where an operator changes it, for remedies; left out, in `sandbox.networkPolicy`. */
  readonly setting?: string;
};

/** Where the requests of one upstream may go. Without any policy that is its own origin, or nowhere if it has none. */
export interface UpstreamNetwork {
  readonly policy?: NetworkPolicy;
  /** For tools whose names fit a pattern; each that fits has to allow a request, and so has `policy`. */
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

/** One place in a network. The host is a canonical name or address, an IPv6 address without brackets. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Names that mean something else on every machine or network; only a grant can name them. */
const LOCAL = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|corp|home|private|home\.arpa)$/;
/** What clouds tell their own machines about themselves, under names that look public. */
const METADATA = /^metadata\.(?:platformequinix\.com|packet\.net|tencentyun\.com)$/;

/** True for a name that no public resolver should have an answer for, or that is answered on the machine itself. */
export function isLocalName(host: string): boolean {
  return !host.includes(":") && (!host.includes(".") || LOCAL.test(host) || METADATA.test(host));
}

/** Whether a pattern covers a request; the scheme decides which port goes without saying. */
export function matchesHost(pattern: HostPattern, place: HostPort, scheme: string): boolean {
  if (place.port !== (pattern.port ?? usualPort(scheme))) return false;
  return pattern.isBelow ? place.host.endsWith(`.${pattern.name}`) : place.host === pattern.name;
}

/** The port that a URL of this scheme has when it names none. */
function usualPort(scheme: string): number {
  return scheme === "https:" ? 443 : 80;
}

/** The one canonical spelling of a URL's host: what rules are compared with and what is resolved. */
export function toPlace(url: URL): HostPort {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return { host, port: url.port === "" ? usualPort(url.protocol) : Number(url.port) };
}
