/** Which programs may use a secret, and which addresses it may be sent to. */

import { matchesHost, toPlace } from "../../domain/index.ts";
import type { SecretGrant, SecretGrants } from "../../domain/index.ts";

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

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
