/** What a finder of a token could do with it, for the person who makes it. */

import type { TokenScope } from "./scopes.ts";
import type { TokenSummary } from "./tokens.ts";

type ReachOfToken = Pick<TokenSummary, "executionsPerMinute" | "expiresAt" | "servers" | "tools"> & {
  readonly scopes: readonly string[];
};

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
