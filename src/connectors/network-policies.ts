/** Which network policies apply to a call: the upstream's own, and those of every pattern that matches its tool. */

import type { NetworkPolicy, UpstreamNetwork } from "../domain/index.ts";
import { matchWildcard } from "../text/index.ts";

/** The network of an upstream whose configuration has no network settings. */
export const PLAIN_NETWORK: UpstreamNetwork = { tools: [] };

/** Every returned policy must allow a request. `matches` tells whether a pattern covers the tool. */
export function listPolicies(
  { policy, tools }: UpstreamNetwork,
  matches: (pattern: string) => boolean = () => false,
): readonly NetworkPolicy[] {
  const own = tools.filter(({ pattern }) => matches(pattern)).map((tool) => tool.policy);
  return policy ? [policy, ...own] : own;
}

/** `*` matches any number of characters; case is ignored. */
export function matchesName(pattern: string, name: string): boolean {
  return matchWildcard(pattern.toLowerCase(), name.toLowerCase());
}
