/** Who makes a request, what that identity may do, and how it is narrowed. `src/identity` makes them. */

import type { PrincipalId } from "./ids.ts";
import type { Effect } from "./tool.ts";

/** A role never implies another; a person may have several. */
type Role = "agent" | "reviewer" | "operator";

/** What a token narrows, in addition to the rules. An absent field narrows nothing. */
interface Access {
  /** The operator's names of upstreams. */
  readonly servers?: readonly string[];
  /** Tool patterns, as in rules. */
  readonly tools?: readonly string[];
  /** Those of its profile; a tool must match one of each list. */
  readonly profileTools?: readonly string[];
  readonly effects?: readonly Effect[];
}

/** Made by `src/identity` from a verified credential; never built from request data. */
export interface Principal {
  readonly id: PrincipalId;
  /** Only a person decides anything. */
  readonly kind: "agent" | "person" | "service";
  readonly roles?: readonly Role[];
  readonly groups: readonly string[];
  /** The person behind an agent or a service. */
  readonly person?: PrincipalId;
  /** Other names by which rules may mean it: the person behind it, or `local` for local clients that a person adopted. */
  readonly aliases?: readonly string[];
  readonly access?: Access;
  /** Tightens `quotas.executionsPerMinute` of the configuration. */
  readonly executionsPerMinute?: number;
  /** The client's session. Labels belong to a session; without one, all requests of the principal share them. */
  readonly session?: string;
  /** True if the client may replace this session by a new one, which then inherits its labels for some hours. */
  readonly passesLabels?: boolean;
}

/** True for a person with one of these roles. An agent or a service decides nothing, whatever its roles are. */
export function hasRole({ kind, roles = [] }: Pick<Principal, "kind" | "roles">, ...wanted: readonly Role[]): boolean {
  return kind === "person" && wanted.some((role) => roles.includes(role));
}
