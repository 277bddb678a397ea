/** `glovebox policy simulate`: what a rule file would have changed about past calls. */

import { resolve } from "node:path";

import { Option } from "commander";
import type { Command } from "commander";
import * as z from "zod";

import { parseJson } from "../../../domain/index.ts";
import type { Instant, PolicySettings } from "../../../domain/index.ts";
import { compilePolicy, isFlowRule, simulate } from "../../../policy/index.ts";
import type { LedgerReader } from "../../../ledger/index.ts";
import { digestOf } from "../../../text/index.ts";
import { parseMoment } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { readRules } from "./load-policy.ts";

export interface SimulateFlags {
  readonly since?: string;
  readonly profile?: PolicySettings["profile"];
}

export type PastCalls = Parameters<typeof simulate>[1];

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

export function addSimulate(policy: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(
    policy,
    "simulate <file>",
    "show what a rule file would have changed about the calls in the ledger",
    simulateCommand,
  )
    .option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d")
    .addOption(new Option("--profile <name>", "also try another profile").choices(["balanced", "strict", "open"]));
}

/** The file replaces the rule file of the configuration; the rules of the configuration stay. */
async function simulateCommand(invocation: Invocation<SimulateFlags>, file: string): Promise<void> {
  const { flags, powers, terminal } = invocation;
  const since = flags.since === undefined ? 0 : parseMoment(flags.since, powers.now());
  const settings = await invocation.readSettings();
  const own = settings.policy;
  const proposed = await readRules(resolve(terminal.cwd, file), own.rules);
  const policy = compilePolicy({ ...own, profile: flags.profile ?? own.profile, rules: [...own.rules, ...proposed] });
  await using records = await powers.readRecords(settings);
  const past = await readPastCalls(records.openReader(), since);
  const simulation = simulate(policy, past);
  invocation.print(simulation, formatSimulation(simulation));
}

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

function formatSimulation(simulation: ReturnType<typeof simulate>): readonly string[] {
  const { calls, same, changed, cannotTell } = simulation;
  return [
    `${calls} calls: ${same} as before, ${countCalls(changed)} changed, ${countCalls(cannotTell)} undecided without their arguments`,
    ...formatChanges(simulation),
  ];
}

export function formatChanges({ changed, cannotTell }: ReturnType<typeof simulate>): readonly string[] {
  return [
    ...changed.map(
      ({ principal, tool, from, to, rule, calls: times }) =>
        `  ${from} -> ${to}  ${tool} by ${principal}, ${times} calls, ${rule}`,
    ),
    ...cannotTell.map(
      ({ principal, tool, from, rules, calls: times }) =>
        `  ${from} -> ?  ${tool} by ${principal}, ${times} calls, depends on ${rules.join(", ")}`,
    ),
  ];
}

export function countCalls(parts: readonly { readonly calls: number }[]): number {
  return parts.reduce((sum, part) => sum + part.calls, 0);
}
