/** From an admitted name to the addresses that may be connected to: all of them are checked, or none is used. */

import { GloveboxError, toPlace } from "../../domain/index.ts";
import type { HostPort } from "../../domain/index.ts";
import { untilAborted } from "../../timing/index.ts";

import { classifyAddress, toCanonicalAddress } from "./address.ts";
import type { Lane, Network } from "../network.ts";
import { privateHost } from "../reach.ts";
import type { AddressRule } from "../reach.ts";

/** More than any honest name has. */
const MAX_ANSWERS = 64;
const RESOLVE_MS = 10_000;

/** The target of a request. It is resolved once; a retry uses the same addresses. */
export interface CheckedTarget extends HostPort {
  readonly isSecure: boolean;
  /** Canonical, sorted, at least one. */
  readonly addresses: readonly string[];
}

interface Lookup {
  readonly network: Network;
  readonly lane: Lane;
  readonly signal: AbortSignal;
}

/** Throws `EGRESS_DENIED` if any answer is an address that this request may not reach. Rejects when `signal` fires. */
export async function resolveHost(
  url: URL,
  { mayBePrivate, remedy }: AddressRule,
  asking: Lookup,
): Promise<CheckedTarget> {
  const place = toPlace(url);
  const literal = toCanonicalAddress(place.host);
  const answers = literal === undefined ? await ask(place.host, asking) : [literal];
  // A grant covers an address that the operator wrote, and the ordinary addresses of a granted name. The owner of a name
  // must not lead to the metadata service of a cloud.
  const isNameGranted = mayBePrivate && literal === undefined;
  const addresses = answers.filter((address) => !isNameGranted || classifyAddress(address) !== "special");
  const isAllowed = mayBePrivate || addresses.every((address) => classifyAddress(address) === "public");
  if (addresses.length === 0 || !isAllowed) throw privateHost(place, remedy);
  const unique = [...new Set(addresses.map((address) => toCanonicalAddress(address) ?? refuseAnswer()))];
  return { ...place, isSecure: url.protocol === "https:", addresses: unique.toSorted() };
}

async function ask(name: string, { network, signal, lane }: Lookup): Promise<readonly string[]> {
  signal.throwIfAborted();
  const late = AbortSignal.timeout(RESOLVE_MS);
  const ends = AbortSignal.any([signal, late]);
  const answers = await untilAborted(network.resolve(name, { lane, signal: ends }), ends).catch((thrown: unknown) => {
    throw late.aborted && !signal.aborted ? unresolved(name, "ETIMEOUT") : thrown;
  });
  if (answers.length === 0) throw unresolved(name, "ENOTFOUND");
  if (answers.length > MAX_ANSWERS) refuseAnswer();
  return answers;
}

function unresolved(name: string, code: string): Error {
  return Object.assign(new Error(`${name} cannot be resolved (${code})`), { code });
}

function refuseAnswer(): never {
  throw new GloveboxError("EGRESS_DENIED", "The name resolves to an invalid or excessive number of addresses", {
    hint: "Check the name and its DNS records",
  });
}
