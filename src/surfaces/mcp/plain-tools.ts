/**
 * Upstream tools under names of MCP, for clients that call them one by one: `<namespace>_<tool>`. Neither part can
 * contain an underscore, so no two tools get the same name, and none that of our own tools.
 */

import { createHash } from "node:crypto";

import type { Tool as McpTool } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { CatalogSnapshot, JsonSchema, Tool } from "../../domain/index.ts";

/** What MCP clients and models take as the name of a tool. */
const MAX_NAME = 64;
const DIGITS = 8;
/** Stands only in names that were cut. */
const CUT = "__";

/** Served by the methods of MCP for resources and prompts instead. */
export const PASSED_THROUGH = ["resources/list", "resources/read", "prompts/list", "prompts/get"] as const;
const HIDDEN: ReadonlySet<string> = new Set(PASSED_THROUGH);

/** A longer name is cut and gets the first digits of the address's SHA-256 behind two underscores. */
export function toPlainName(address: string): string {
  const name = address.replace(".", "_");
  if (name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(address).digest("hex").slice(0, DIGITS);
  return name.slice(0, MAX_NAME - CUT.length - DIGITS) + CUT + digest;
}

const named = new WeakMap<CatalogSnapshot, ReadonlyMap<string, Tool>>();

/** By name, in the order of names. Made once for each snapshot. */
export function namePlainTools(snapshot: CatalogSnapshot): ReadonlyMap<string, Tool> {
  const known = named.get(snapshot);
  if (known) return known;
  const shown = [...snapshot.tools.values()].filter(({ origin }) => !HIDDEN.has(origin.remoteName));
  const entries = shown.map((tool) => [toPlainName(tool.address), tool] as const);
  const made = new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  named.set(snapshot, made);
  return made;
}

/** Also one that is not listed because policy denies it: a call of it is refused by policy, with a record. */
export function findPlainTool(snapshot: CatalogSnapshot, name: string): Tool | undefined {
  const hidden = [...(snapshot.hidden?.values() ?? [])];
  return namePlainTools(snapshot).get(name) ?? hidden.find(({ address }) => toPlainName(address) === name);
}

/** The definition that a client reads. An output schema goes along only if MCP can express it: an object's. */
export function definePlainTool(name: string, tool: Tool): McpTool {
  const { description, input, output, effect, origin, summary } = tool;
  return {
    name,
    // Some clients refuse a tool without words.
    description: [description, summary].find((text) => text !== "") ?? `A tool of ${origin.connector}`,
    inputSchema: toObjectSchema(input),
    ...(hasObjectOutput(output) && { outputSchema: toObjectSchema(output) }),
    annotations: { readOnlyHint: effect === "read", destructiveHint: effect === "destroy" || effect === "unknown" },
  };
}

/** Whether a result of this tool must come as structured content. */
export function hasObjectOutput(output: JsonSchema | null): output is JsonSchema {
  return isJsonObject(output) && output["type"] === "object";
}

function toObjectSchema(schema: JsonSchema): McpTool["inputSchema"] {
  return { ...schema, type: "object" };
}
