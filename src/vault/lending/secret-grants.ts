/** Which programs may use a secret, and which URLs it may be sent to. */

import { matchesHost, toPlace } from "../../domain/index.ts";
import type { SecretGrant, SecretGrants } from "../../domain/index.ts";

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

/** Whether the secret may be sent to this URL: by https, on this machine, or as plain http if granted so. */
export function bindsTo({ hosts }: Pick<SecretGrant, "hosts">, url: URL): boolean {
  const place = toPlace(url);
  const isSafe = url.protocol === "https:" || LOOPBACK.test(place.host);
  return hosts.some(
    ({ pattern, isPlain }) =>
      matchesHost(pattern, place, url.protocol) && (isPlain ? url.protocol === "http:" : isSafe),
  );
}

/** Returns the grants that apply to the programs of one principal. */
export function grantsFor(grants: SecretGrants, principal: string): SecretGrants {
  return new Map([...grants].filter(([, { principals }]) => principals.length === 0 || principals.includes(principal)));
}
