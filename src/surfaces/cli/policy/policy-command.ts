/** `glovebox policy`: shows the rules, explains decisions and simulates other rules. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { parseRules } from "../../../config/index.ts";
import type { Settings } from "../../../config/index.ts";
import {
  GloveboxError,
  describeEffect,
  isJsonObject,
  parsePrincipalId,
  parseToolAddress,
} from "../../../domain/index.ts";
import { parseExecutionId } from "../../../domain/index.ts";
import type { ExecutionId, JsonObject, PolicyRule, PolicySettings, Principal, Tool } from "../../../domain/index.ts";
import { findNearest } from "../../../catalog/index.ts";
import { toFetchTool } from "../../../builtins/index.ts";
import { compilePolicy, describeCondition, explain, simulate, applyOperatorEffect } from "../../../policy/index.ts";
import { parseMoment } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers } from "../powers.ts";
import { readPastCalls } from "./past-calls.ts";
import { printJson, printLine } from "../print.ts";
import { printExplanation, printSimulation } from "./print-policy.ts";

export interface PolicyFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly args?: string;
  readonly principal?: string;
  readonly group?: readonly string[];
  readonly since?: string;
  readonly profile?: PolicySettings["profile"];
}

const NEAREST = 3;

/** Shows the configured rules, including those of the rule file. Starts no upstream. */
export async function policyCommand(flags: PolicyFlags, powers: CliPowers): Promise<number> {
  const { stdout } = powers.terminal;
  const settings = await powers.loadSettings(flags.config);
  const { profile, rules, groups, effects } = await loadPolicy(settings);
  if (flags.json) {
    const { file } = settings.policy;
    const shown = { profile, rules: rules.map(toWrittenRule), groups: toObject(groups), effects: toObject(effects) };
    printJson(stdout, { ...shown, ...(file !== undefined && { file }) });
    return EXIT.done;
  }
  printLine(stdout, `profile ${profile}`);
  for (const rule of compilePolicy({ profile, rules, groups, effects }).rules) printLine(stdout, formatRule(rule.rule));
  for (const [pattern, effect] of effects) printLine(stdout, `effect  ${pattern} is ${effect}`);
  for (const [group, members] of groups) printLine(stdout, `group   ${group}: ${members.join(", ")}`);
  return EXIT.done;
}

/** The exit code is the decision: 0 allow, 3 ask, 4 deny; 1 for an unknown tool. Makes no call. */
export async function explainCommand(name: string, flags: PolicyFlags, powers: CliPowers): Promise<number> {
  const args = parseArgs(flags.args ?? "{}");
  const principal = parsePrincipal(flags);
  const settings = await powers.loadSettings(flags.config);
  const policy = compilePolicy(await loadPolicy(settings));
  await using gateway = await powers.openGateway(settings);
  const own = toFetchTool(args);
  const tool =
    name === own.address
      ? applyOperatorEffect(policy, own)
      : await findTool(await gateway.takeSnapshot(principal), name);
  const call = { execution: NO_EXECUTION, seq: 1, principal: principal.id, address: tool.address, args };
  const explanation = explain(policy, { call, tool, principal });
  const { decision, rules } = explanation;
  const { stdout } = powers.terminal;
  const { effect, effectSource, origin } = tool;
  if (flags.json) {
    const about = { tool: tool.address, server: origin.connector, effect, ...(effectSource && { effectSource }) };
    const { kind, ...decided } = decision;
    printJson(stdout, { ...about, principal: principal.id, decision: kind, ...decided, rules });
  } else {
    const subject = `${tool.address} (${describeEffect(tool)}) by ${principal.id}`;
    printExplanation({ subject, explanation }, stdout);
  }
  return { allow: EXIT.done, ask: EXIT.paused, deny: EXIT.refused }[decision.kind];
}

/** The file replaces the rule file of the configuration; the rules of the configuration stay. */
export async function simulateCommand(file: string, flags: PolicyFlags, powers: CliPowers): Promise<number> {
  const since = flags.since === undefined ? 0 : parseMoment(flags.since, powers.now());
  const settings = await powers.loadSettings(flags.config);
  const path = resolve(powers.terminal.cwd, file);
  const own = settings.policy;
  const proposed = await readRules(path, own.rules);
  const policy = compilePolicy({ ...own, profile: flags.profile ?? own.profile, rules: [...own.rules, ...proposed] });
  await using records = await powers.readRecords(settings);
  const ledger = records.openReader();
  const past = await readPastCalls(ledger, { since, effects: own.effects });
  const simulation = simulate(policy, past);
  if (flags.json) printJson(powers.terminal.stdout, simulation);
  else printSimulation(simulation, powers.terminal.stdout);
  return EXIT.done;
}

/** A placeholder: `explain` makes no call. */
const NO_EXECUTION = parsePlaceholder(`ex_${"0".repeat(24)}`);

function parsePlaceholder(raw: string): ExecutionId {
  const id = parseExecutionId(raw);
  if (id === undefined) throw new TypeError(`${raw} is not an execution id`);
  return id;
}

async function loadPolicy({ policy }: Settings): Promise<PolicySettings> {
  if (policy.file === undefined) return policy;
  return { ...policy, rules: [...policy.rules, ...(await readRules(policy.file, policy.rules))] };
}

async function readRules(path: string, own: readonly PolicyRule[]): Promise<readonly PolicyRule[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new GloveboxError("CONFIG_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" });
  });
  return parseRules(text, path, new Set(own.map(({ id }) => id)));
}

async function findTool(
  snapshot: Parameters<typeof findNearest>[0] & { readonly hidden?: ReadonlyMap<string, Tool> },
  name: string,
): Promise<Tool> {
  const address = parseToolAddress(name);
  const tool = address && (snapshot.tools.get(address) ?? snapshot.hidden?.get(address));
  if (tool) return tool;
  const nearest = findNearest(snapshot, name, NEAREST);
  throw new GloveboxError("TOOL_NOT_FOUND", `Unknown tool ${JSON.stringify(name.slice(0, 200))}`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : "`glovebox tools` lists the tools",
  });
}

function parseArgs(text: string): JsonObject {
  const wrong = (cause?: unknown): GloveboxError =>
    new GloveboxError("REQUEST_INVALID", "--args takes the arguments of a call as one JSON object", {
      cause,
      hint: `Write --args '{"amount": 5}'`,
    });
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw wrong(cause);
  }
  throw wrong();
}

/** By default an MCP client of this machine. */
function parsePrincipal({ principal = "local", group = [] }: PolicyFlags): Principal {
  const id = parsePrincipalId(principal);
  if (id) return { id, kind: "agent", groups: group };
  throw new GloveboxError("REQUEST_INVALID", "--principal takes a name of 1 to 256 characters");
}

function formatRule({
  id,
  decision,
  principals = [],
  groups = [],
  servers = [],
  tools,
  effects,
  when = [],
  reason,
}: PolicyRule) {
  const parts = [
    ...(tools.length > 0 ? [tools.join(", ")] : ["every tool"]),
    ...(effects.length > 0 ? [`if it is ${effects.join(" or ")}`] : []),
    ...(servers.length > 0 ? [`of ${servers.join(", ")}`] : []),
    ...(principals.length + groups.length > 0 ? [`by ${[...principals, ...groups].join(", ")}`] : []),
    ...when.map((condition) => `when ${describeCondition(condition)}`),
  ];
  return `${decision.padEnd(7)} ${id}: ${parts.join(", ")} (${reason})`;
}

/** Describes conditions in words, because paths and patterns are parsed. */
function toWrittenRule({ when, ...rule }: PolicyRule): object {
  return { ...rule, ...(when && { when: when.map(describeCondition) }) };
}

function toObject<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries(map);
}
