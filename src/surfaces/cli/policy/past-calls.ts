/** Reads past calls from the ledger, for a simulation. */

import * as z from "zod";

import type { Effect, Instant, PolicySettings } from "../../../domain/index.ts";
import type { LedgerReader } from "../../../ledger/index.ts";
import { isFlowRule } from "../../../policy/index.ts";
import type { simulate } from "../../../policy/index.ts";

/** Builtin calls never pass the rules. */
const OWN_RULE = "builtin";

const RECORD = z.object({
  at: z.number(),
  action: z.literal("call.intended"),
  actor: z.string(),
  subject: z.string(),
  detail: z.object({
    effect: z.enum(["read", "write", "destroy", "unknown"]),
    decision: z.enum(["allow", "ask", "deny"]),
    server: z.string().nullable().catch(null),
    rule: z.string().catch(""),
  }),
});

/** Applies today's operator effects to past calls. Unreadable records are skipped. */
export async function readPastCalls(
  ledger: Pick<LedgerReader, "records">,
  { since, effects }: { readonly since: Instant; readonly effects: PolicySettings["effects"] },
): Promise<Parameters<typeof simulate>[1]> {
  const effectOf = (tool: string): Effect | undefined =>
    effects.get(tool) ?? effects.get(`${tool.split(".")[0]}.*`) ?? effects.get("*");
  const calls: Parameters<typeof simulate>[1][number][] = [];
  for await (const raw of ledger.records()) {
    const { data } = RECORD.safeParse(raw);
    if (!data || data.at < since || data.detail.rule === OWN_RULE) continue;
    const { actor: principal, subject: tool, detail } = data;
    const { rule, ...decided } = detail;
    calls.push({ principal, tool, ...decided, effect: effectOf(tool) ?? detail.effect, byGuard: isFlowRule(rule) });
  }
  return calls;
}
