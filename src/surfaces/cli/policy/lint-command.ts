/** `glovebox policy lint` and `policy suggest`: rules that change nothing, and rules that practice suggests. */

import type { Command } from "commander";

import { parseRules } from "../../../config/index.ts";
import { suggestRules } from "../../../policy/index.ts";
import { parseMoment } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { printLine } from "../print.ts";
import { IDLE_HINT, formatIdle } from "../../idle-patterns.ts";
import { lintRules, listTools, loadPolicy, readPastCalls } from "../../review-policy.ts";
import { countCalls, formatChanges } from "./simulate-command.ts";

/** Conditions come from arguments, which records have only with previews. */
const NO_PREVIEWS = "Records have no arguments to find conditions in: `audit.previews` keeps their beginnings";

export function addReviews(policy: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(policy, "lint", "find rules without effect, shadowed rules and patterns that match nothing", lint);
  addJsonCommand(
    policy,
    "suggest",
    "suggest rules that ask where past practice ends, and test them on the calls in the ledger",
    suggest,
  ).option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d");
}

/** Exit 1 if there is a finding. Starts the upstreams, because effects decide. */
async function lint({ loadSettings, openGateway, principal, print, flags, terminal }: Invocation): Promise<number> {
  const settings = await loadSettings();
  await using gateway = await openGateway();
  const { rules, findings, idlePatterns } = await lintRules(settings, gateway, principal);
  print({ findings, idlePatterns }, [
    ...findings.flatMap(({ kind, message, hint }) => [`${kind}: ${message}`, `  hint: ${hint}`]),
    ...idlePatterns.flatMap((one) => [`idle: ${formatIdle(one)}`, `  hint: ${IDLE_HINT}`]),
  ]);
  const count = findings.length + idlePatterns.length;
  if (!flags.json && count === 0) printLine(terminal.stderr, `${rules} rules, nothing to report`);
  return count === 0 ? EXIT.done : EXIT.failed;
}

/** Changes nothing: an operator copies what fits. */
async function suggest(invocation: Invocation<{ readonly since?: string }>): Promise<void> {
  const { flags, powers, principal, print, terminal } = invocation;
  const since = flags.since === undefined ? 0 : parseMoment(flags.since, powers.now());
  const settings = await invocation.loadSettings();
  const policy = await loadPolicy(settings);
  const tools = await listChangingTools(invocation, principal);
  await using records = await powers.readRecords(settings);
  const past = await readPastCalls(records.openReader(), since);
  const taken = new Set<string>(policy.rules.map(({ id }) => id));
  const file = settings.policy.file ?? "rules.json";
  const { rules, simulation } = suggestRules({
    settings: policy,
    past,
    tools,
    parse: (written) => parseRules(JSON.stringify({ rules: written }), file, taken),
  });
  const { calls, changed, cannotTell } = simulation;
  const lines = rules.map((rule) => `+    ${JSON.stringify(rule)},`);
  const outcome = `would have changed ${formatNumber(countCalls(changed))} of ${formatNumber(calls)} calls`;
  const doubt = cannotTell.length === 0 ? "" : `, ${formatNumber(countCalls(cannotTell))} undecided without arguments`;
  print({ rules, simulation }, [
    ...(rules.length === 0 ? [] : [`--- ${file}`, `+++ ${file}`, '   "rules": [', ...lines, "   ]"]),
    `${rules.length} ${rules.length === 1 ? "rule" : "rules"} ${outcome}${doubt}`,
    ...formatChanges(simulation),
  ]);
  if (!flags.json && past.every(({ args }) => args === undefined)) printLine(terminal.stderr, `hint: ${NO_PREVIEWS}`);
}

async function listChangingTools(invocation: Invocation, principal: Invocation["principal"]) {
  await using gateway = await invocation.openGateway();
  const tools = listTools(await gateway.takeSnapshot(principal));
  return tools.filter(({ effect }) => effect !== "read").map(({ address }) => address);
}

function formatNumber(count: number): string {
  return count.toLocaleString("en-US");
}
