/** Hosts as an operator writes them: in network policies, in grants and for secrets. */

import { isLocalName, toPlace } from "../../../domain/index.ts";
import type { HostPort, SecretGrant } from "../../../domain/index.ts";
import { isPublicSuffix } from "./public-suffixes.ts";

/** The value of a string, or what was expected instead, for a message. */
export type HostReading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly expected: string };

const PLAIN = "http://";
const DIGITS = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const SECRET_HOST =
  'expected "host", "host:port" or "*.domain"; a local name or an address needs a port; "http://" before it allows the secret to be sent unencrypted';

export function readHostPattern(text: string): HostReading<SecretGrant["hosts"][number]["pattern"]> {
  const isBelow = text.startsWith("*.");
  const found = findPlace(isBelow ? text.slice(2) : text);
  if (!found) return refuse('"host", "host:port" or "*.domain", without scheme, path or other wildcards');
  const { host: name, port } = found;
  if (isAddress(name)) return refuse(`a name; put an address into grants, as "${name}:${port ?? 443}"`);
  if (isLocalName(name)) return refuse(`a public name; put a local one into grants, as "${name}:${port ?? 443}"`);
  if (isBelow && port !== null) return refuse('"*.domain" without a port');
  if (isBelow && isPublicSuffix(name)) return refuse(`a narrower pattern: anyone can register a name below ${name}`);
  return { ok: true, value: { name, isBelow, port } };
}

/** Reads `host:port`, where the host may be an address and the port must be given. */
export function readHostPort(text: string): HostReading<HostPort> {
  const found = findPlace(text);
  if (!found || found.port === null) return refuse('"host:port", as in "nas.local:8080" or "10.0.0.5:443"');
  return { ok: true, value: { host: found.host, port: found.port } };
}

/** Reads a domain or a grant of a network policy, with an optional prefix `http://`. */
export function readSecretHost(written: string): HostReading<SecretGrant["hosts"][number]> {
  const isPlain = written.startsWith(PLAIN);
  const bare = isPlain ? written.slice(PLAIN.length) : written;
  const name = readHostPattern(bare);
  if (name.ok) return { ok: true, value: { written, pattern: name.value, isPlain } };
  const place = readHostPort(bare);
  if (place.ok) {
    const { host, port } = place.value;
    return { ok: true, value: { written, pattern: { name: host, isBelow: false, port }, isPlain } };
  }
  return bare.startsWith("*.") ? name : { ok: false, expected: SECRET_HOST };
}

/** Returns the values of strings that the schema accepted. */
export function readAll<Value>(read: (text: string) => HostReading<Value>, texts: readonly string[] = []): Value[] {
  return texts.map((text) => {
    const result = read(text);
    if (!result.ok) throw new TypeError("A host of the configuration was not checked");
    return result.value;
  });
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
