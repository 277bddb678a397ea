/** What a finder of a token could do with it, for the person who makes it. */

import type { TokenScope } from "./scopes.ts";

/** What narrows a token. The admin page describes one that does not exist yet. */
interface ReachOfToken {
  readonly scopes: readonly string[];
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly executionsPerMinute?: number;
  readonly expiresAt?: number;
}

const REACHES: Readonly<Partial<Record<TokenScope, string>>> = {
  search: "search and describe these tools",
  "ledger:read": "read the ledger",
  "metrics:read": "read the metrics",
  "approvals:read": "read waiting and decided approvals, with their arguments",
};

/** `can` are the ends of a sentence that begins with "can". */
export function describeReach({ scopes, servers, tools, expiresAt, executionsPerMinute }: ReachOfToken): {
  readonly until: string;
  readonly can: readonly string[];
} {
  const where = servers ? `the servers ${servers.join(", ")}` : "every server";
  const what = tools ? `tools that match ${tools.join(", ")}` : "every tool";
  const effect = scopes.includes("execute")
    ? [`call ${what} of ${where}, as far as the rules allow`]
    : scopes.includes("execute:read")
      ? [`read with ${what} of ${where}, as far as the rules allow`]
      : [];
  const others = Object.entries(REACHES).flatMap(([scope, text]) => (scopes.includes(scope) ? text : []));
  const quota =
    executionsPerMinute === undefined ? [] : [`start at most ${executionsPerMinute} executions in a minute`];
  const until = expiresAt === undefined ? "until it is revoked" : `until ${new Date(expiresAt).toISOString()}`;
  return { until, can: [...effect, ...others, ...quota] };
}
