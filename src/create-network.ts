/** Who may do what with the network: the policies of the settings, put to those whose requests they are about. */

import type { Settings } from "./config/index.ts";
import { GloveboxError } from "./domain/index.ts";
import type { NetworkPolicy } from "./domain/index.ts";
import { openEgress } from "./egress/index.ts";
import type { Egress } from "./egress/index.ts";
import type { Vault } from "./vault/index.ts";
import { resolveTemplates } from "./connectors/index.ts";
import { mask } from "./host-powers.ts";

/** The policies that hold for the requests of programs. */
export function networkOf({ sandbox, egress }: Settings): {
  policy: NetworkPolicy;
  ceiling: NetworkPolicy | undefined;
} {
  return { policy: sandbox.networkPolicy, ceiling: egress.networkPolicy };
}

/** The way out, with what the operator says about all of it. The password for a proxy is lent when it is first used. */
export function openEgressOf({ egress }: Settings, vault: Pick<Vault, "lend">): Egress {
  const { proxy, proxyLogin, networkPolicy } = egress;
  return openEgress({
    ...(proxy !== undefined && { proxy }),
    ...(proxyLogin && { proxyLogin: () => fillLogin(proxyLogin, vault) }),
    ...(networkPolicy && { ceiling: networkPolicy }),
  });
}

async function fillLogin(
  { user, password }: NonNullable<Settings["egress"]["proxyLogin"]>,
  vault: Pick<Vault, "lend">,
): Promise<{ readonly user: string; readonly password: string }> {
  const filled = await resolveTemplates({ password }, vault, "proxy").catch((cause: unknown) => {
    throw new GloveboxError("UPSTREAM_UNREACHABLE", "The password for the proxy cannot be had", {
      cause,
      hint: "Ask the operator to set the secret that egress.proxyPassword names",
    });
  });
  const secret = filled["password"] ?? "";
  mask.add(secret);
  return { user, password: secret };
}

/** A configuration can be copied without being read, so the whole network needs a second word, and is told each time. */
export function checkUnrestricted(settings: Settings, isConfirmed: boolean, warn: (told: GloveboxError) => void): void {
  for (const [policy, who] of listPolicies(settings)) {
    if (policy?.mode !== "unrestricted") continue;
    const { setting = "sandbox.networkPolicy" } = policy;
    if (!isConfirmed) {
      throw new GloveboxError("CONFIG_INVALID", `${setting} is unrestricted, and nobody confirmed it`, {
        hint: "Start with --unrestricted-network or GLOVEBOX_UNRESTRICTED_NETWORK=1, or name hosts with mode allowed",
      });
    }
    const warning = `${who} may send requests to every public host (${setting} is unrestricted)`;
    warn(new GloveboxError("CONFIG_INVALID", warning));
  }
}

/** Not the ceiling, which gives nobody anything. */
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
