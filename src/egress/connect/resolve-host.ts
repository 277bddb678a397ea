/** From an admitted name to the addresses that may be connected to: all of them are checked, or none is used. */

import { GloveboxError, toPlace } from "../../domain/index.ts";
import type { HostPort } from "../../domain/index.ts";

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

/** The resolver, the kind of caller, and the signal that ends the lookup. */
export interface Lookup {
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
  const addresses = mayBePrivate ? keepGranted(answers, literal) : answers;
  if (addresses.length === 0 || (!mayBePrivate && !addresses.every(isPublic))) throw privateHost(place, remedy);
  const unique = [...new Set(addresses.map((address) => toCanonicalAddress(address) ?? refuseAnswer()))];
  return { ...place, isSecure: url.protocol === "https:", addresses: unique.toSorted() };
}

function isPublic(address: string): boolean {
  return classifyAddress(address) === "public";
}

/**
 * A grant covers an address that the operator wrote, and the ordinary addresses of a granted name. The owner of a name
 * must not lead to the metadata service of a cloud.
 */
function keepGranted(answers: readonly string[], literal: string | undefined): readonly string[] {
  return literal === undefined ? answers.filter((address) => classifyAddress(address) !== "special") : answers;
}

async function ask(name: string, { network, signal, lane }: Lookup): Promise<readonly string[]> {
  signal.throwIfAborted();
  const waiting = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    waiting.abort();
    ended.reject(reason);
  };
  const timer = setTimeout(() => end(unresolved(name, "ETIMEOUT")), RESOLVE_MS);
  const stop = (): void => end(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answers = await Promise.race([network.resolve(name, { lane, signal: waiting.signal }), ended.promise]);
    if (answers.length === 0) throw unresolved(name, "ENOTFOUND");
    if (answers.length > MAX_ANSWERS) refuseAnswer();
    return answers;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function unresolved(name: string, code: string): Error {
  return Object.assign(new Error(`${name} cannot be resolved (${code})`), { code });
}

function refuseAnswer(): never {
  throw new GloveboxError("EGRESS_DENIED", "The name resolves to an invalid or excessive number of addresses", {
    hint: "Check the name and its DNS records",
  });
}
