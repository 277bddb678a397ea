/** `glovebox policy`: shows the rules and explains decisions. */

import type { Command } from "commander";

import {
  GloveboxError,
  defined,
  describeEffect,
  isJsonObject,
  parseJson,
  parsePrincipalId,
} from "../../../domain/index.ts";
import type { PolicyRule } from "../../../domain/index.ts";
import { compilePolicy, describeCondition } from "../../../policy/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { printLine } from "../print.ts";
import { IDLE_HINT, findIdleInStore, formatIdle } from "../../idle-patterns.ts";
import { addReviews } from "./lint-command.ts";
import { explainCall, loadPolicy } from "../../review-policy.ts";
import { formatRule, readKnownTools } from "./load-policy.ts";
import { addSimulate } from "./simulate-command.ts";

interface ExplainFlags {
  readonly args?: string;
  readonly principal?: string;
  readonly group?: readonly string[];
}

export function addPolicy(program: Command, commands: Commands): void {
  const { addJsonCommand } = commands;
  const policy = addJsonCommand(program, "policy", "show the rules that decide about calls", policyCommand);
  addJsonCommand(
    policy,
    "explain <tool>",
    "explain the decision about a call, rule by rule; makes no call",
    explainCommand,
  )
    .option("--args <json>", "the arguments of the call (default {})")
    .option("--principal <name>", "the principal (default local, the principal of MCP clients)")
    .option("--group <names...>", "groups of the principal");
  addJsonCommand(policy, "rules", "list the rules that decisions with the scope always made", rulesCommand);
  addJsonCommand(policy, "revoke <rule>", "remove such a rule; running gateways ask again", revokeCommand);
  addJsonCommand(policy, "quotas", "list the quotas that something counts against now", quotasCommand);
  addSimulate(policy, commands);
  addReviews(policy, commands);
}

/** Shows the configured rules, including those of the rule file. Starts no upstream. */
async function policyCommand({ readSettings, powers, print }: Invocation): Promise<void> {
  const settings = await readSettings();
  const { profile, rules, groups, effects } = await loadPolicy(settings);
  const patterns = { ...settings, policy: { ...settings.policy, rules } };
  const idlePatterns = findIdleInStore(patterns, await readKnownTools(settings, powers));
  const { file } = settings.policy;
  const written = { profile, rules: rules.map(toWrittenRule), groups: toObject(groups), effects: toObject(effects) };
  print({ ...written, ...defined({ file }), ...(idlePatterns.length > 0 ? { idlePatterns } : {}) }, [
    `profile ${profile}`,
    ...compilePolicy({ profile, rules, groups, effects }).rules.map(({ rule }) => formatRule(rule)),
    ...Array.from(effects, ([pattern, effect]) => `effect  ${pattern} is ${effect}`),
    ...Array.from(groups, ([group, members]) => `group   ${group}: ${members.join(", ")}`),
    ...idlePatterns.map((one) => `warning ${formatIdle(one)}`),
    ...(idlePatterns.length > 0 ? [`        hint: ${IDLE_HINT}`] : []),
  ]);
}

/** Exit 0 also if there are none. */
async function rulesCommand({ openRecords, print, flags, terminal }: Invocation): Promise<void> {
  await using records = await openRecords();
  const [rules, { file }] = [await records.rules.list(), records.rules];
  print(
    { rules, ...defined({ file }) },
    rules.map((rule) => JSON.stringify(rule)),
  );
  if (!flags.json && rules.length === 0) printLine(terminal.stderr, "No decision has made a rule");
}

/** Exit 0 also if there are none. */
async function quotasCommand({ openRecords, print, flags, terminal }: Invocation): Promise<void> {
  await using records = await openRecords();
  const quotas = await records.listQuotas();
  print(
    { quotas },
    quotas.map(({ setting, who, used, limit, resetsAt }) => {
      const reset = resetsAt === undefined ? "" : `, until ${new Date(resetsAt).toISOString()}`;
      return `${setting}: ${used} of ${limit} by ${who}${reset}`;
    }),
  );
  if (!flags.json && quotas.length === 0) printLine(terminal.stderr, "No quota is in use");
}

async function revokeCommand({ openRecords, principal, print }: Invocation, id: string): Promise<void> {
  await using records = await openRecords();
  await records.rules.revoke(id, principal);
  print({ revoked: id }, [`${id}: revoked`]);
}

/** The exit code is the decision: 0 allow, 3 ask, 4 deny; 1 for an unknown tool. Makes no call. */
async function explainCommand(invocation: Invocation<ExplainFlags>, name: string): Promise<number> {
  const { flags, print } = invocation;
  const args = parseJson(flags.args ?? "{}");
  if (!isJsonObject(args)) {
    throw new GloveboxError("REQUEST_INVALID", "--args takes the arguments of a call as one JSON object", {
      hint: `Write --args '{"amount": 5}'`,
    });
  }
  // By default an MCP client of this machine.
  const id = parsePrincipalId(flags.principal ?? "local");
  if (!id) throw new GloveboxError("REQUEST_INVALID", "--principal takes a name of 1 to 256 characters");
  const principal = { id, kind: "agent", groups: flags.group ?? [] } as const;
  const settings = await invocation.loadSettings();
  await using gateway = await invocation.openGateway();
  const explained = await explainCall({ name, args, principal }, settings, gateway);
  const { tool, decision, rule, reason, rules } = explained;
  print(explained, [
    `${decision}: ${tool} (${describeEffect(explained)}) by ${id}`,
    `  decided by ${rule}`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...rules
      .toSorted((a, b) => Number(b.matches) - Number(a.matches))
      .map((one) => `  ${one.matches ? "matches" : "does not match"}  ${one.rule} (${one.decision}): ${one.why}`),
  ]);
  return { allow: EXIT.done, ask: EXIT.paused, deny: EXIT.refused }[decision];
}

/** Describes conditions in words, because paths and patterns are parsed. */
function toWrittenRule({ when, ...rule }: PolicyRule): object {
  return { ...rule, ...defined({ when: when?.map(describeCondition) }) };
}

function toObject<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries(map);
}
