/** Decides by name whether a request may be sent. Its addresses are checked afterwards. */

import { isLocalName, matchesHost, toPlace } from "../domain/index.ts";
import type { HostPort, NetworkPolicy } from "../domain/index.ts";

import { denied } from "./check-url.ts";

/**
 * What a kind of request may reach. An upstream has its own origin, unless policies of its own allow more; a program
 * has what every one of its policies allows. The ceiling applies to all of them, so the strictest policy decides.
 */
export type RequestScope = (
  | {
      readonly kind: "origin";
      readonly origin: string;
      readonly mayBePrivate: boolean;
      readonly policies?: readonly NetworkPolicy[];
    }
  | { readonly kind: "policies"; readonly policies: readonly NetworkPolicy[] }
) & { readonly ceiling?: NetworkPolicy };

/** Whether an admitted request may go to a private address; if not, how to get it allowed. */
export interface AddressRule {
  readonly mayBePrivate: boolean;
  readonly remedy: string;
}

/** Throws `EGRESS_DENIED` with a remedy. Without a policy nothing is allowed. */
export function admit(scope: RequestScope, url: URL): AddressRule {
  const { policies = [], ceiling } = scope;
  const own = scope.kind === "origin" && policies.length === 0 ? admitOrigin(scope, url) : admitAll(policies, url);
  if (!ceiling) return own;
  const under = admitAll([ceiling], url);
  return own.mayBePrivate ? under : own;
}

/**
 * The first request of an upstream must go to its own origin, whatever its policies say: its credentials are for that
 * origin. Comparing whole origins also forbids a downgrade from https to http.
 */
export function admitOwn(origin: string, url: URL): void {
  if (url.origin === origin) return;
  throw denied(
    `A request for ${url.origin} is not allowed: this upstream is ${origin}`,
    "Configure the upstream with its actual address",
  );
}

function admitOrigin({ origin, mayBePrivate }: Extract<RequestScope, { kind: "origin" }>, url: URL): AddressRule {
  admitOwn(origin, url);
  return { mayBePrivate, remedy: "Write its address in the configuration, as url or baseUrl" };
}

function admitAll(policies: readonly NetworkPolicy[], url: URL): AddressRule {
  const place = toPlace(url);
  if (policies.length === 0) throw blocked();
  const closed = policies.filter((policy) => !admitByPolicy(policy, place, url.protocol))[0];
  return { mayBePrivate: closed === undefined, remedy: toGrantRemedy(place, closed) };
}

/** Returns whether the policy also grants a private address. */
function admitByPolicy(policy: NetworkPolicy, place: HostPort, scheme: string): boolean {
  if (policy.mode === "blocked") throw blocked(policy.setting);
  if (policy.grants.some(({ host, port }) => host === place.host && port === place.port)) return true;
  if (isLocalName(place.host)) throw privateHost(place, toGrantRemedy(place, policy));
  const isOpen = policy.mode === "unrestricted";
  if (isOpen ? hasUsualPort(place, scheme) : policy.hosts.some((host) => matchesHost(host, place, scheme))) {
    return false;
  }
  const shown = showPlace(place, scheme);
  const setting = `${settingOf(policy)}.${isOpen ? "grants" : "domains"}`;
  const hint = `Ask the operator to add "${shown}" to ${setting}, or call a tool instead`;
  throw denied(`The network policy does not allow ${shown}`, hint);
}

const USUAL_SETTING = "sandbox.networkPolicy";

function settingOf(policy: NetworkPolicy | undefined): string {
  return policy?.setting ?? USUAL_SETTING;
}

/** The error for a program without network access, and for a policy that blocks all requests. */
function blocked(setting?: string): Error {
  if (setting !== undefined) {
    return denied("The network policy blocks this request", `Ask the operator to allow the host in ${setting}`);
  }
  return denied(
    "The sandbox has no network",
    `Call a tool of an upstream instead, or ask the operator to allow the host in ${USUAL_SETTING}`,
  );
}

/** The error for a name or an address of a private network, with the only remedy. */
export function privateHost({ host }: HostPort, remedy: string): Error {
  return denied(`${host} is not on the public network`, remedy);
}

function toGrantRemedy(place: HostPort, policy: NetworkPolicy | undefined): string {
  const grant = `"${showPlace(place, "")}" in ${settingOf(policy)}`;
  return `Only an operator can allow it: by a grant of ${grant}, or as a separate upstream`;
}

function showPlace({ host, port }: HostPort, scheme: string): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return scheme !== "" && hasUsualPort({ host, port }, scheme) ? name : `${name}:${port}`;
}

/** True for 443 over https and for 80 over http. */
function hasUsualPort(place: HostPort, scheme: string): boolean {
  return matchesHost({ name: place.host, isBelow: false, port: null }, place, scheme);
}
