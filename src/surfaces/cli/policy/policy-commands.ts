/** `glovebox policy`: shows the rules and explains decisions. */

import type { Command } from "commander";

import { toFetchTool } from "../../../builtins/index.ts";
import { findNearest } from "../../../catalog/index.ts";
import {
  GloveboxError,
  defined,
  describeEffect,
  isJsonObject,
  parseExecutionId,
  parseJson,
  parsePrincipalId,
  parseToolAddress,
} from "../../../domain/index.ts";
import type { CatalogSnapshot, PolicyRule, Tool } from "../../../domain/index.ts";
import { compilePolicy, describeCondition, explain, stateTool } from "../../../policy/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { printLine } from "../print.ts";
import { IDLE_HINT, findIdleInStore, formatIdle } from "./idle-patterns.ts";
import { addReviews } from "./lint-command.ts";
import { formatRule, loadPolicy, readKnownTools } from "./load-policy.ts";
import { addSimulate } from "./simulate-command.ts";

interface ExplainFlags {
  readonly args?: string;
  readonly principal?: string;
  readonly group?: readonly string[];
}

const NEAREST = 3;

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
  const policy = compilePolicy(await loadPolicy(settings));
  await using gateway = await invocation.openGateway();
  const own = toFetchTool(args);
  const tool =
    name === own.address
      ? stateTool(policy, settings.policy.labels, own)
      : findTool(await gateway.takeSnapshot(principal, [name.split(".", 1).join()]), name);
  const { address, effect, effectSource, origin } = tool;
  const execution = parseExecutionId(`ex_${"0".repeat(24)}`); // a placeholder: `explain` makes no call
  if (!execution) throw new TypeError("The placeholder is not an execution id");
  const call = { execution, seq: 1, principal: id, address, args };
  const { decision, rules } = explain(policy, { call, tool, principal });
  const { kind, ...decided } = decision;
  const about = { tool: address, server: origin.connector, effect, ...defined({ effectSource }) };
  print({ ...about, principal: id, decision: kind, ...decided, rules }, [
    `${kind}: ${address} (${describeEffect(tool)}) by ${id}`,
    `  decided by ${decision.rule}`,
    ...(decision.kind === "allow" ? [] : [`  ${decision.reason}`]),
    ...rules
      .toSorted((a, b) => Number(b.matches) - Number(a.matches))
      .map((rule) => `  ${rule.matches ? "matches" : "does not match"}  ${rule.rule} (${rule.decision}): ${rule.why}`),
  ]);
  return { allow: EXIT.done, ask: EXIT.paused, deny: EXIT.refused }[kind];
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

/** Describes conditions in words, because paths and patterns are parsed. */
function toWrittenRule({ when, ...rule }: PolicyRule): object {
  return { ...rule, ...defined({ when: when?.map(describeCondition) }) };
}

function toObject<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries(map);
}
