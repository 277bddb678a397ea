/** An unrestricted network has to be confirmed outside of the configuration, which can be copied without being read. */

import { GloveboxError } from "../domain/index.ts";
import type { Settings } from "./settings.ts";

/** Throws CONFIG_INVALID for an unrestricted policy that is not confirmed, and warns about each one that is. */
export function checkUnrestricted(
  settings: Settings,
  isConfirmed: boolean,
  warn: (warning: GloveboxError) => void,
): void {
  const { sandbox, upstreams, apis, adapters } = settings;
  const networks = [...upstreams.values(), ...apis.values(), ...adapters].flatMap((upstream) =>
    "network" in upstream ? [upstream.network] : [],
  );
  const ofServers = [...upstreams.values()].flatMap((server) =>
    "networkPolicy" in server ? [server.networkPolicy] : [],
  );
  const ofUpstreams = networks.flatMap(({ policy, tools }) => [policy, ...tools.map((tool) => tool.policy)]);
  // Without the policy of `egress`, which only takes away.
  for (const policy of [sandbox.networkPolicy, ...ofServers, ...ofUpstreams]) {
    if (policy?.mode !== "unrestricted") continue;
    const { setting = "sandbox.networkPolicy" } = policy;
    if (!isConfirmed) {
      throw new GloveboxError("CONFIG_INVALID", `${setting} is unrestricted and was not confirmed`, {
        hint: "Start with --unrestricted-network or GLOVEBOX_UNRESTRICTED_NETWORK=1, or name hosts with mode allowed",
      });
    }
    const owner = policy === sandbox.networkPolicy ? "programs" : "an upstream";
    const warning = `${owner} may send requests to every public host (${setting} is unrestricted)`;
    warn(new GloveboxError("CONFIG_INVALID", warning));
  }
}
