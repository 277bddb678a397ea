/**
 * Upstream tools as MCP tools, for clients that call them directly: `<namespace>_<tool>`. Neither part can contain an
 * underscore, so names never collide, neither with each other nor with Glovebox's own tools.
 */

import { createHash } from "node:crypto";

import type { Tool as McpTool } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { CatalogSnapshot, JsonSchema, Tool } from "../../domain/index.ts";

/** The length of a tool name that MCP clients and models accept. */
const MAX_NAME = 64;
const DIGITS = 8;
/** Occurs only in shortened names. */
const CUT = "__";

/** Served by the MCP methods for resources and prompts instead. */
export const PASSED_THROUGH = ["resources/list", "resources/read", "prompts/list", "prompts/get"] as const;
const HIDDEN: ReadonlySet<string> = new Set(PASSED_THROUGH);

/** A longer name is cut, followed by two underscores and the first digits of the address's SHA-256. */
export function toPlainName(address: string): string {
  const name = address.replace(".", "_");
  if (name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(address).digest("hex").slice(0, DIGITS);
  return name.slice(0, MAX_NAME - CUT.length - DIGITS) + CUT + digest;
}

const named = new WeakMap<CatalogSnapshot, ReadonlyMap<string, Tool>>();

/** By name, sorted by name. Cached for each snapshot. */
export function namePlainTools(snapshot: CatalogSnapshot): ReadonlyMap<string, Tool> {
  const known = named.get(snapshot);
  if (known) return known;
  const shown = [...snapshot.tools.values()].filter(({ origin }) => !HIDDEN.has(origin.remoteName));
  const entries = shown.map((tool) => [toPlainName(tool.address), tool] as const);
  const made = new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  named.set(snapshot, made);
  return made;
}

/** Also finds a tool that policy hides: policy refuses the call, with a record. */
export function findPlainTool(snapshot: CatalogSnapshot, name: string): Tool | undefined {
  const hidden = [...(snapshot.hidden?.values() ?? [])];
  return namePlainTools(snapshot).get(name) ?? hidden.find(({ address }) => toPlainName(address) === name);
}

/** The definition for a client. An output schema is included only if it describes an object, as MCP requires. */
export function definePlainTool(name: string, tool: Tool): McpTool {
  const { description, input, output, effect, origin, summary } = tool;
  return {
    name,
    // Some clients refuse a tool without a description.
    description: [description, summary].find((text) => text !== "") ?? `A tool of ${origin.connector}`,
    inputSchema: toObjectSchema(input),
    ...(hasObjectOutput(output) && { outputSchema: toObjectSchema(output) }),
    annotations: { readOnlyHint: effect === "read", destructiveHint: effect === "destroy" || effect === "unknown" },
  };
}

/** True if a result of this tool must be structured content. */
export function hasObjectOutput(output: JsonSchema | null): output is JsonSchema {
  return isJsonObject(output) && output["type"] === "object";
}

function toObjectSchema(schema: JsonSchema): McpTool["inputSchema"] {
  return { ...schema, type: "object" };
}
