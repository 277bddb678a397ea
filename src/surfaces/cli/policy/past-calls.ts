/** Reads past calls from the ledger, for a simulation. */

import type { LedgerReader } from "../../../ledger/index.ts";
import { isJsonObject } from "../../../domain/index.ts";
import type { Effect, Instant, JsonObject, PolicySettings } from "../../../domain/index.ts";
import { isFlowRule } from "../../../policy/index.ts";
import type { simulate } from "../../../policy/index.ts";

type SimulatedCall = Parameters<typeof simulate>[1][number];

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];
const KINDS = ["allow", "ask", "deny"] as const;
/** Builtin calls never pass the rules. */
const OWN_RULE = "builtin";

/** Applies today's operator effects to past calls. Unreadable records are skipped. */
export async function readPastCalls(
  ledger: Pick<LedgerReader, "records">,
  { since, effects }: { readonly since: Instant; readonly effects: PolicySettings["effects"] },
): Promise<readonly SimulatedCall[]> {
  const calls: SimulatedCall[] = [];
  for await (const record of ledger.records()) {
    const call = isRecent(record, since) ? parseCall(record) : undefined;
    if (call) calls.push({ ...call, effect: stateEffect(effects, call) });
  }
  return calls;
}

function isRecent({ at, action }: JsonObject, since: Instant): boolean {
  return action === "call.intended" && typeof at === "number" && at >= since;
}

function parseCall({ actor, subject, detail }: JsonObject): SimulatedCall | undefined {
  if (typeof actor !== "string" || typeof subject !== "string" || !isJsonObject(detail)) return undefined;
  const effect = EFFECTS.find((known) => known === detail["effect"]);
  const decision = KINDS.find((known) => known === detail["decision"]);
  const { server: named, rule } = detail;
  if (!effect || !decision || rule === OWN_RULE) return undefined;
  const server = typeof named === "string" ? named : null;
  const byGuard = typeof rule === "string" && isFlowRule(rule);
  return { principal: actor, tool: subject, server, effect, decision, byGuard };
}

function stateEffect(effects: PolicySettings["effects"], { tool, effect }: SimulatedCall): Effect {
  return effects.get(tool) ?? effects.get(`${tool.split(".")[0]}.*`) ?? effects.get("*") ?? effect;
}
