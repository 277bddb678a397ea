/** Where programs may send requests: the operator's rule, and the names that it is made of. */

import { isPublicSuffix } from "./public-suffixes.ts";

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

/** What came of reading a text: a value, or what is wrong with it, to be shown after "expected". */
export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly expected: string };

/** Names that mean something else on every machine or network; only a grant can name them. */
const LOCAL = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|corp|home|private|home\.arpa)$/;
/** What clouds tell their own machines about themselves, under names that look public. */
const METADATA = /^metadata\.(?:platformequinix\.com|packet\.net|tencentyun\.com)$/;
const DIGITS = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** True for a name that no public resolver should have an answer for, or that is answered on the machine itself. */
export function isLocalName(host: string): boolean {
  return !host.includes(":") && (!host.includes(".") || LOCAL.test(host) || METADATA.test(host));
}

/** Reads `host`, `host:port` or `*.domain`. */
export function readHostPattern(text: string): Read<HostPattern> {
  const isBelow = text.startsWith("*.");
  const found = findPlace(isBelow ? text.slice(2) : text);
  if (!found) return refuse('"host", "host:port" or "*.domain", without scheme, path or other wildcards');
  const { host: name, port } = found;
  if (isAddress(name)) return refuse(`a name; an address belongs to grants, as "${name}:${port ?? 443}"`);
  if (isLocalName(name)) return refuse(`a public name; a local one belongs to grants, as "${name}:${port ?? 443}"`);
  if (isBelow && port !== null) return refuse('"*.domain" without a port');
  if (isBelow && isPublicSuffix(name)) return refuse(`a narrower pattern: anybody can have a name below ${name}`);
  return { ok: true, value: { name, isBelow, port } };
}

/** Reads `host:port`, where the host may be an address and the port must be given. */
export function readHostPort(text: string): Read<HostPort> {
  const found = findPlace(text);
  if (!found || found.port === null) return refuse('"host:port", as in "nas.local:8080" or "10.0.0.5:443"');
  return { ok: true, value: { host: found.host, port: found.port } };
}

/** Whether a pattern covers a request; the scheme decides which port goes without saying. */
export function matchesHost(pattern: HostPattern, place: HostPort, scheme: string): boolean {
  if (place.port !== (pattern.port ?? usualPort(scheme))) return false;
  return pattern.isBelow ? place.host.endsWith(`.${pattern.name}`) : place.host === pattern.name;
}

/** The port that a URL of this scheme has when it names none. */
export function usualPort(scheme: string): number {
  return scheme === "https:" ? 443 : 80;
}

/** The one canonical spelling of a URL's host: what rules are compared with and what is resolved. */
export function toPlace(url: URL): HostPort {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return { host, port: url.port === "" ? usualPort(url.protocol) : Number(url.port) };
}

function findPlace(text: string): { readonly host: string; readonly port: number | null } | undefined {
  const [, host = "", portText] = /^(\[[0-9a-fA-F:.]+\]|[^\s/\\@?#:*%]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const url = host === "" ? null : URL.parse(`https://${host}/`);
  if (!url) return undefined;
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return undefined;
  const { host: name } = toPlace(url);
  return /^$|^\.|\.\.|\.$/.test(name) ? undefined : { host: name, port };
}

function isAddress(host: string): boolean {
  return host.includes(":") || DIGITS.test(host);
}

function refuse(expected: string): { readonly ok: false; readonly expected: string } {
  return { ok: false, expected: `expected ${expected}` };
}
