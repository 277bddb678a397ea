/** `glovebox policy`: shows the rules, explains decisions and simulates other rules. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { Option } from "commander";
import type { Command } from "commander";
import * as z from "zod";

import { toFetchTool } from "../../builtins/index.ts";
import { findNearest, nameNamespaces } from "../../catalog/index.ts";
import { parseRules } from "../../config/index.ts";
import type { Settings } from "../../config/index.ts";
import {
  GloveboxError,
  defined,
  describeEffect,
  isJsonObject,
  parseExecutionId,
  parseJson,
  parsePrincipalId,
  parseToolAddress,
} from "../../domain/index.ts";
import type { CatalogSnapshot, Instant, PolicyRule, PolicySettings, Tool } from "../../domain/index.ts";
import { compilePolicy, describeCondition, explain, isFlowRule, simulate, stateTool } from "../../policy/index.ts";
import type { LedgerReader } from "../../ledger/index.ts";
import { parseMoment } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { IDLE_HINT, findIdleInStore, formatIdle } from "./idle-patterns.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";

interface ExplainFlags {
  readonly args?: string;
  readonly principal?: string;
  readonly group?: readonly string[];
}

interface SimulateFlags {
  readonly since?: string;
  readonly profile?: PolicySettings["profile"];
}

const NEAREST = 3;
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
  }),
});

export function addPolicy(program: Command, { addJsonCommand }: Commands): void {
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
  addJsonCommand(
    policy,
    "simulate <file>",
    "show what a rule file would have changed about the calls in the ledger",
    simulateCommand,
  )
    .option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d")
    .addOption(new Option("--profile <name>", "also try another profile").choices(["balanced", "strict", "open"]));
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

/** Without a store no tool is known, and only patterns for servers that are not configured can be reported. */
async function readKnownTools(settings: Settings, powers: CliPowers) {
  const { upstreams, apis } = settings;
  const servers = [...upstreams.keys(), ...apis.keys()];
  try {
    await using records = await powers.readRecords(settings);
    return await records.listKnownTools(servers);
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_NOT_FOUND") throw thrown;
    return { tools: [], unlisted: [...nameNamespaces(servers)].flat() };
  }
}

/** The exit code is the decision: 0 allow, 3 ask, 4 deny; 1 for an unknown tool. Makes no call. */
async function explainCommand(invocation: Invocation<ExplainFlags>, name: string): Promise<number> {
  const { flags, powers, print } = invocation;
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
  await using gateway = await powers.openGateway(settings);
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

/** Unreadable records are skipped. */
export async function readPastCalls(
  ledger: Pick<LedgerReader, "records">,
  since: Instant,
): Promise<Parameters<typeof simulate>[1]> {
  const calls: Parameters<typeof simulate>[1][number][] = [];
  for await (const raw of ledger.records()) {
    const { data } = RECORD.safeParse(raw);
    if (!data || data.at < since || data.detail.rule === OWN_RULE) continue;
    const { actor: principal, subject: tool, detail } = data;
    const { rule, ...decided } = detail;
    calls.push({ principal, tool, ...decided, byGuard: isFlowRule(rule) });
  }
  return calls;
}

function formatSimulation({ calls, same, changed, cannotTell }: ReturnType<typeof simulate>): readonly string[] {
  const count = (parts: readonly { readonly calls: number }[]): number =>
    parts.reduce((sum, part) => sum + part.calls, 0);
  return [
    `${calls} calls: ${same} as before, ${count(changed)} changed, ${count(cannotTell)} undecided without their arguments`,
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

/** The rules of the configuration and of its rule file. */
export async function loadPolicy({ policy }: Settings): Promise<PolicySettings> {
  if (policy.file === undefined) return policy;
  return { ...policy, rules: [...policy.rules, ...(await readRules(policy.file, policy.rules))] };
}

async function readRules(path: string, own: readonly PolicyRule[]): Promise<readonly PolicyRule[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new GloveboxError("CONFIG_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" });
  });
  return parseRules(text, path, new Set(own.map(({ id }) => id)));
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

function formatRule(rule: PolicyRule): string {
  const { id, decision, principals = [], groups = [], servers = [], tools, effects, when = [], reason } = rule;
  const parts = [
    tools.length > 0 ? tools.join(", ") : "every tool",
    ...(effects.length > 0 ? [`if it is ${effects.join(" or ")}`] : []),
    ...(servers.length > 0 ? [`of ${servers.join(", ")}`] : []),
    ...(principals.length + groups.length > 0 ? [`by ${[...principals, ...groups].join(", ")}`] : []),
    ...when.map((condition) => `when ${describeCondition(condition)}`),
  ];
  return `${decision.padEnd(7)} ${id}: ${parts.join(", ")} (${reason})`;
}

/** Describes conditions in words, because paths and patterns are parsed. */
function toWrittenRule({ when, ...rule }: PolicyRule): object {
  return { ...rule, ...defined({ when: when?.map(describeCondition) }) };
}

function toObject<Value>(map: ReadonlyMap<string, Value>): Record<string, Value> {
  return Object.fromEntries(map);
}
