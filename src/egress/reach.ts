/** Decides by name whether a request may leave. Addresses are another question, asked after this one. */

import { isLocalName, matchesHost, toPlace, usualPort } from "../domain/index.ts";
import type { HostPort, NetworkPolicy } from "../domain/index.ts";

import { denied } from "./check-url.ts";

/**
 * What one kind of request may reach. An upstream has its own origin and nothing else; a program has whatever every
 * one of its policies allows, so the strictest of them decides.
 */
export type Reach =
  | { readonly kind: "origin"; readonly origin: string; readonly mayBePrivate: boolean }
  | { readonly kind: "policies"; readonly policies: readonly NetworkPolicy[] };

/** What is known of an admitted request: whether its address may lie in a private network, and else how to ask. */
export interface Admission {
  readonly mayBePrivate: boolean;
  readonly remedy: string;
}

/** Throws `EGRESS_DENIED` with the way to ask. Without any policy nothing is allowed. */
export function admit(reach: Reach, url: URL): Admission {
  switch (reach.kind) {
    case "origin":
      return admitOrigin(reach, url);
    case "policies":
      return admitByPolicies(reach.policies, url);
    default:
      return reach satisfies never;
  }
}

/** Comparing whole origins also forbids a downgrade from https to http. */
function admitOrigin({ origin, mayBePrivate }: Extract<Reach, { kind: "origin" }>, url: URL): Admission {
  if (url.origin === origin)
    return { mayBePrivate, remedy: "Write its address in the configuration, as url or baseUrl" };
  throw denied(
    `A request for ${url.origin} is not allowed: this upstream is ${origin}`,
    "Configure the upstream with the address that it really has",
  );
}

function admitByPolicies(policies: readonly NetworkPolicy[], url: URL): Admission {
  if (policies.length === 0) throw blocked();
  const place = toPlace(url);
  const verdicts = policies.map((policy) => admitByPolicy(policy, place, url.protocol));
  return { mayBePrivate: verdicts.every(Boolean), remedy: toGrantRemedy(place) };
}

/** Whether the policy also grants a private address. */
function admitByPolicy(policy: NetworkPolicy, place: HostPort, scheme: string): boolean {
  if (policy.mode === "blocked") throw blocked();
  if (policy.grants.some(({ host, port }) => host === place.host && port === place.port)) return true;
  if (isLocalName(place.host)) throw privateHost(place, toGrantRemedy(place));
  const isOpen = policy.mode === "unrestricted";
  if (isOpen ? place.port === usualPort(scheme) : policy.hosts.some((host) => matchesHost(host, place, scheme))) {
    return false;
  }
  const shown = showPlace(place, scheme);
  const setting = isOpen ? "grants" : "domains";
  const hint = `Ask the operator to add "${shown}" to sandbox.networkPolicy.${setting}, or call a tool instead`;
  throw denied(`The network policy does not allow ${shown}`, hint);
}

/** What a program with no network at all is told. */
export function blocked(): Error {
  return denied(
    "The sandbox has no network",
    "Call a tool of an upstream instead, or ask the operator to allow the host in sandbox.networkPolicy",
  );
}

/** The refusal for a name or an address of a private network, with the only way around it. */
export function privateHost({ host }: HostPort, remedy: string): Error {
  return denied(`${host} is not on the public network`, remedy);
}

function toGrantRemedy(place: HostPort): string {
  const grant = showPlace(place, "");
  return `Only an operator can allow it: by a grant of "${grant}" in sandbox.networkPolicy, or as an upstream of its own`;
}

function showPlace({ host, port }: HostPort, scheme: string): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return scheme !== "" && port === usualPort(scheme) ? name : `${name}:${port}`;
}
