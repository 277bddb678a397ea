/** What the policy commands read: the rules in force, and the tools that the store knows. */

import { readFile } from "node:fs/promises";

import { nameNamespaces } from "../../../catalog/index.ts";
import { parseRules } from "../../../config/index.ts";
import type { Settings } from "../../../config/index.ts";
import { GloveboxError } from "../../../domain/index.ts";
import type { PolicyRule } from "../../../domain/index.ts";
import { describeCondition } from "../../../policy/index.ts";
import type { CliPowers } from "../powers.ts";

export async function readRules(path: string, own: readonly PolicyRule[]): Promise<readonly PolicyRule[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new GloveboxError("CONFIG_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" });
  });
  return parseRules(text, path, new Set(own.map(({ id }) => id)));
}

/** Without a store no tool is known, and only patterns for servers that are not configured can be reported. */
export async function readKnownTools(settings: Settings, powers: CliPowers) {
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

export function formatRule(rule: PolicyRule): string {
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
