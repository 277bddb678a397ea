/** What a finder of a token could do with it, for the person who makes it. */

import type { TokenScope } from "./scopes.ts";

/** What narrows a token, with its profile. The admin page describes one that does not exist yet. */
interface ReachOfToken {
  readonly scopes: readonly string[];
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly profile?: string;
  readonly profileTools?: readonly string[];
  readonly effects?: readonly string[];
  readonly executionsPerMinute?: number;
  readonly expiresAt?: number;
}

export interface TokenReach {
  readonly until: string;
  /** The ends of a sentence that begins with "can". */
  readonly can: readonly string[];
}

const REACHES: Readonly<Partial<Record<TokenScope, string>>> = {
  search: "search and describe these tools",
  "ledger:read": "read the ledger",
  "metrics:read": "read the metrics",
  "approvals:read": "read waiting and decided approvals, with their arguments",
};

export function describeReach(token: ReachOfToken): TokenReach {
  const { scopes, profile, expiresAt, executionsPerMinute } = token;
  const others = Object.entries(REACHES).flatMap(([scope, text]) => (scopes.includes(scope) ? text : []));
  const quota =
    executionsPerMinute === undefined ? [] : [`start at most ${executionsPerMinute} executions in a minute`];
  const more = profile === undefined ? [] : [`reach more if the profile ${profile} gets more`];
  const until = expiresAt === undefined ? "until it is revoked" : `until ${new Date(expiresAt).toISOString()}`;
  return { until, can: [...describeCalls(token), ...others, ...quota, ...more] };
}

function describeCalls({ scopes, servers, tools, profileTools, effects }: ReachOfToken): readonly string[] {
  const isReader = !scopes.includes("execute");
  if (isReader && !scopes.includes("execute:read")) return [];
  const patterns = [tools, profileTools].flatMap((one) => (one ? one.join(", ") : []));
  const what = patterns.length > 0 ? `tools that match ${patterns.join(" and also ")}` : "every tool";
  const only = isReader || !effects ? "" : ` with the effects ${effects.join(", ")}`;
  const where = !servers ? "every server" : servers.length > 0 ? `the servers ${servers.join(", ")}` : "no server";
  return [`${isReader ? "read with" : "call"} ${what}${only} of ${where}, as far as the rules allow`];
}
