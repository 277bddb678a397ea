/** An unrestricted network has to be confirmed outside of the configuration, which can be copied without being read. */

import { GloveboxError } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import type { Settings } from "./settings.ts";

/** Throws CONFIG_INVALID for an unrestricted policy that is not confirmed, and warns about each one that is. */
export function checkUnrestricted(
  settings: Settings,
  isConfirmed: boolean,
  warn: (warning: GloveboxError) => void,
): void {
  for (const [policy, owner] of listPolicies(settings)) {
    if (policy?.mode !== "unrestricted") continue;
    const { setting = "sandbox.networkPolicy" } = policy;
    if (!isConfirmed) {
      throw new GloveboxError("CONFIG_INVALID", `${setting} is unrestricted and was not confirmed`, {
        hint: "Start with --unrestricted-network or GLOVEBOX_UNRESTRICTED_NETWORK=1, or name hosts with mode allowed",
      });
    }
    const warning = `${owner} may send requests to every public host (${setting} is unrestricted)`;
    warn(new GloveboxError("CONFIG_INVALID", warning));
  }
}

/** Without the policy of `egress`, which only takes away. */
function listPolicies({
  sandbox,
  upstreams,
  apis,
  adapters,
}: Settings): readonly [NetworkPolicy | undefined, string][] {
  const remote = [...upstreams.values()].flatMap((upstream) => (upstream.transport === "stdio" ? [] : [upstream]));
  const networks = [...remote, ...apis.values(), ...adapters].map(({ network }) => network);
  const own = networks.flatMap(({ policy, tools }) => [policy, ...tools.map((tool) => tool.policy)]);
  return [
    [sandbox.networkPolicy, "programs"],
    ...own.map((policy): [typeof policy, string] => [policy, "an upstream"]),
  ];
}
