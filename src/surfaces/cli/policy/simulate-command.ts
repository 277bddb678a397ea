/** `glovebox policy simulate`: what a rule file would have changed about past calls. */

import { resolve } from "node:path";

import { Option } from "commander";
import type { Command } from "commander";
import type { PolicySettings } from "../../../domain/index.ts";
import { compilePolicy, simulate } from "../../../policy/index.ts";
import { parseMoment } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { readPastCalls } from "../../review-policy.ts";
import { readRules } from "./load-policy.ts";

export interface SimulateFlags {
  readonly since?: string;
  readonly profile?: PolicySettings["profile"];
}

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
