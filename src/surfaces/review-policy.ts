/** What the command line and the page ask of the rules: explain one call, compare with past calls, and find what has no effect. */

import * as z from "zod";

import { toFetchTool } from "../builtins/index.ts";
import { findNearest } from "../catalog/index.ts";
import { followRuleFiles } from "../config/index.ts";
import type { Settings } from "../config/index.ts";
import { GloveboxError, defined, parseExecutionId, parseJson, parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, Instant, JsonObject, PolicySettings, Principal, Tool } from "../domain/index.ts";
import type { LedgerReader } from "../ledger/index.ts";
import { compilePolicy, explain, isFlowRule, lintPolicy, stateTool } from "../policy/index.ts";
import type { simulate } from "../policy/index.ts";
import { digestOf } from "../text/index.ts";
import type { Gateway } from "./gateway.ts";
import { findIdleInCatalog } from "./idle-patterns.ts";

/** The rules of the configuration, of its rule file, and of decisions that last. */
export async function loadPolicy(settings: Settings): Promise<PolicySettings> {
  const { policy } = settings;
  const more = (await followRuleFiles(settings)?.read()) ?? [];
  return { ...policy, rules: [...policy.rules, ...more] };
}

export interface AskedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly principal: Principal;
}

const NEAREST = 3;

/** Decides as the bridge would, without the data-flow guard, and makes no call. Throws TOOL_NOT_FOUND. */
export async function explainCall(
  { name, args, principal }: AskedCall,
  settings: Settings,
  gateway: Pick<Gateway, "takeSnapshot">,
) {
  const policy = compilePolicy(await loadPolicy(settings));
  const own = toFetchTool(args);
  const tool =
    name === own.address
      ? stateTool(policy, settings.policy.labels, own)
      : findTool(await gateway.takeSnapshot(principal, [name.split(".", 1).join()]), name);
  const { address, effect, effectSource, origin } = tool;
  const execution = parseExecutionId(`ex_${"0".repeat(24)}`); // a placeholder: `explain` makes no call
  if (!execution) throw new TypeError("The placeholder is not an execution id");
  const call = { execution, seq: 1, principal: principal.id, address, args };
  const { decision, rules } = explain(policy, { call, tool, principal });
  const { kind, rule } = decision;
  const reason = kind === "allow" ? undefined : decision.reason;
  return {
    tool: address,
    server: origin.connector,
    effect,
    principal: principal.id,
    decision: kind,
    rule,
    ...defined({ effectSource, reason }),
    rules,
  };
}

function findTool(snapshot: CatalogSnapshot, name: string): Tool {
  const address = parseToolAddress(name);
  const tool = address && (snapshot.tools.get(address) ?? snapshot.hidden?.get(address));
  if (tool) return tool;
  const nearest = findNearest(snapshot, name, NEAREST);
  throw new GloveboxError("TOOL_NOT_FOUND", `Unknown tool ${JSON.stringify(name.slice(0, 200))}`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : "`glovebox tools` lists the tools",
  });
}

/** Rules that change nothing, and patterns that match nothing. Waits for every server, because effects decide. */
export async function lintRules(
  settings: Settings,
  gateway: Pick<Gateway, "takeSnapshot">,
  principal: Principal,
): Promise<{
  readonly rules: number;
  readonly findings: ReturnType<typeof lintPolicy>;
  readonly idlePatterns: Awaited<ReturnType<typeof findIdleInCatalog>>;
}> {
  const policy = await loadPolicy(settings);
  const snapshot = await gateway.takeSnapshot(principal);
  const tools = listTools(snapshot);
  const listed = new Set(tools.map(({ origin }) => origin.connector));
  const waiting = snapshot.namespaces.filter(({ connector }) => !listed.has(connector));
  const unlisted = waiting.flatMap(({ name, connector }) => [name, connector]);
  const findings = lintPolicy({ settings: policy, tools, unlisted });
  const patterned = { ...settings, policy: { ...settings.policy, rules: policy.rules } };
  const idle = await findIdleInCatalog(patterned, gateway, principal);
  // A rule whose only pattern matches nothing is one problem.
  const named = new Set(findings.filter(({ kind }) => kind === "idle").map(({ rule }) => `rule ${rule}`));
  return { rules: policy.rules.length, findings, idlePatterns: idle.filter(({ setting }) => !named.has(setting)) };
}

export function listTools({ tools, hidden }: CatalogSnapshot): readonly Tool[] {
  return [...tools.values(), ...(hidden?.values() ?? [])];
}

type PastCalls = Parameters<typeof simulate>[1];

/** Builtin calls never pass the rules. */
const OWN_RULE = "builtin";

/** A call in the ledger. */
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
    execution: z.string().optional(),
    seq: z.number().optional(),
    approval: z.unknown().optional(),
    arguments: z.string().optional(),
    preview: z.string().optional(),
  }),
});

/**
 * Returns each call once, as it was first decided: an approved call has a second record, and one that waited across a
 * restart a third. Unreadable records are skipped.
 */
export async function readPastCalls(ledger: Pick<LedgerReader, "records">, since: Instant): Promise<PastCalls> {
  const calls: PastCalls[number][] = [];
  const seen = new Set<string>();
  for await (const raw of ledger.records()) {
    const { data } = RECORD.safeParse(raw);
    if (!data || data.detail.rule === OWN_RULE) continue;
    const { actor: principal, subject: tool, detail } = data;
    const { rule, effect, decision, server, execution, seq, approval } = detail;
    const key = `${execution} ${seq}`;
    const isRepeated = approval !== undefined || (execution !== undefined && seen.has(key));
    seen.add(key);
    if (isRepeated || data.at < since) continue;
    const args = readArguments(detail);
    calls.push({
      principal,
      tool,
      effect,
      decision,
      server,
      byGuard: isFlowRule(rule),
      ...(args !== undefined && { args }),
    });
  }
  return calls;
}

/** Previews are cut and cleaned, so only one that has the digest of the arguments is them. */
function readArguments({ arguments: digest, preview }: z.infer<typeof RECORD>["detail"]) {
  return preview !== undefined && digestOf(preview) === digest ? parseJson(preview) : undefined;
}
