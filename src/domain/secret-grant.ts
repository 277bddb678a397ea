/** Which secret programs may use, where and how: what an operator grants. The value is nowhere in it. */

import type { SecretName } from "./ids.ts";
import { matchesHost, readHostPattern, readHostPort, toPlace } from "./network.ts";
import type { HostPattern, Read } from "./network.ts";

/** The part of a request that a secret may be put into. */
export type SecretPlace = "header" | "body";

/** One host that a secret may be sent to. */
export interface SecretHost {
  /** As the operator wrote it, for those who read about it. */
  readonly written: string;
  readonly pattern: HostPattern;
  /** Written with `http://`: it is sent there without encryption, and not over https. */
  readonly isPlain: boolean;
}

/** Lets programs use one secret without reading it. */
export interface SecretGrant {
  readonly hosts: readonly SecretHost[];
  readonly places: readonly SecretPlace[];
  /** Whose programs, by name; empty for everybody's. */
  readonly principals: readonly string[];
}

/** By the name that programs write after `secrets.`. */
export type SecretGrants = ReadonlyMap<SecretName, SecretGrant>;

const PLAIN = "http://";
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

/** Reads what the network policy takes as a domain or a grant, and `http://` before it. */
export function readSecretHost(written: string): Read<SecretHost> {
  const isPlain = written.startsWith(PLAIN);
  const bare = isPlain ? written.slice(PLAIN.length) : written;
  const name = readHostPattern(bare);
  if (name.ok) return { ok: true, value: { written, pattern: name.value, isPlain } };
  const place = readHostPort(bare);
  if (place.ok) {
    const { host, port } = place.value;
    return { ok: true, value: { written, pattern: { name: host, isBelow: false, port }, isPlain } };
  }
  return bare.startsWith("*.") ? name : { ok: false, expected: EXPECTED };
}

const EXPECTED =
  'expected "host", "host:port" or "*.domain", a local name or an address with its port, and "http://" before it only if the secret may be sent unencrypted';

/** Whether this very address may be sent the secret: https, what never leaves this machine, or what was granted as plain. */
export function bindsTo({ hosts }: Pick<SecretGrant, "hosts">, url: URL): boolean {
  const place = toPlace(url);
  const isSafe = url.protocol === "https:" || LOOPBACK.test(place.host);
  return hosts.some(
    ({ pattern, isPlain }) =>
      matchesHost(pattern, place, url.protocol) && (isPlain ? url.protocol === "http:" : isSafe),
  );
}

/** The grants that count for the programs of one principal. */
export function grantsFor(grants: SecretGrants, principal: string): SecretGrants {
  return new Map([...grants].filter(([, { principals }]) => principals.length === 0 || principals.includes(principal)));
}
