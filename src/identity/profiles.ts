/** Named parts of the tools, which access tokens are bound to. They narrow, and never widen. */

import { GloveboxError, defined } from "../domain/index.ts";
import type { Principal } from "../domain/index.ts";

/** One with neither servers nor tools allows nothing. */
export interface TokenProfile extends Pick<NonNullable<Principal["access"]>, "effects" | "servers" | "tools"> {
  /** Of each token. */
  readonly executionsPerMinute?: number;
}

export type Profiles = ReadonlyMap<string, TokenProfile>;

/** Throws REQUEST_NOT_FOUND. */
export function parseProfile(raw: string | undefined, profiles: Profiles): string | undefined {
  if (raw === undefined || profiles.has(raw)) return raw;
  const known = [...profiles.keys()].join(", ") || "none";
  throw new GloveboxError("REQUEST_NOT_FOUND", `${JSON.stringify(raw.slice(0, 80))} is not a profile`, {
    hint: `The configuration has the profiles: ${known}`,
  });
}

/** A profile that the configuration does not have any longer is `{}`: it allows nothing. */
export function narrow(principal: Principal, profile: TokenProfile): Principal {
  const { access = {}, executionsPerMinute: own = Infinity } = principal;
  const { tools: profileTools, effects, executionsPerMinute: most = Infinity } = profile;
  const servers = profile.servers ?? (profileTools ? undefined : []);
  const shared = { servers: meet(access.servers, servers), effects: meet(access.effects, effects), profileTools };
  const quota = Math.min(own, most);
  return {
    ...principal,
    access: { ...access, ...defined(shared) },
    ...(quota !== Infinity && { executionsPerMinute: quota }),
  };
}

/** What both allow; an absent list allows all. */
function meet<Item>(one: readonly Item[] | undefined, other: readonly Item[] | undefined): readonly Item[] | undefined {
  return one && other ? one.filter((item) => other.includes(item)) : (one ?? other);
}
