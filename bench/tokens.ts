/** Measures the initial context of a client: our tool list compared with the plain list of every server. */

import { createSnapshot } from "../src/catalog/create-snapshot.ts";
import { parseListing } from "../src/catalog/parse-listing.ts";
import { parseConnectorId } from "../src/domain/index.ts";
import type { CatalogSnapshot, JsonSchema } from "../src/domain/index.ts";
import { TOOL_DEFINITIONS } from "../src/surfaces/mcp/definitions.ts";
import { runAtOnce } from "../src/timing/index.ts";
import { describeTools } from "../src/typegen/index.ts";
import { print } from "./measure.ts";

const TOOLS_PER_SERVER = 25;
const CHARACTERS_PER_TOKEN = 4;
const VERBS = ["list", "get", "create", "update", "delete"] as const;
const NOUNS = ["issue", "pull_request", "customer", "invoice", "deployment"] as const;

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: { readonly readOnlyHint: boolean };
}

export function benchTokens(): void {
  console.log("\nTokens of the tool list (characters / 4; synthetic servers with 25 tools each)");
  const ours = tokensOf(TOOL_DEFINITIONS);
  for (const count of [100, 250, 500, 2500]) {
    const definitions = Array.from({ length: count }, (_, at) => define(at));
    const plain = tokensOf(definitions);
    const name = `${count} tools: Glovebox / plain MCP`;
    print(
      name,
      `${ours} / ${plain}`,
      `${(plain / ours).toFixed(0)} x, saves ${(100 - (100 * ours) / plain).toFixed(1)} %`,
    );
  }
  const snapshot = snapshotOf(Array.from({ length: 250 }, (_, at) => define(at)));
  const names = [...snapshot.tools.keys()].slice(0, 5);
  for (const detail of ["brief", "types", "full"] as const) {
    const { declarations } = describeTools(snapshot, names, {
      detail,
      findNearest: () => [],
      explainEmpty: () => "",
    });
    print(`describe of 5 tools, ${detail}`, `${Math.ceil(declarations.length / CHARACTERS_PER_TOKEN)}`);
  }
  print("the same 5 tools as plain MCP definitions", `${tokensOf(names.map((_, at) => define(at)))}`);
}

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
}

/** Similar to public servers: a sentence or two, and three to seven arguments, most of them described. */
function define(at: number): Definition {
  const verb = VERBS[at % VERBS.length] ?? "list";
  const noun = NOUNS[Math.floor(at / VERBS.length) % NOUNS.length] ?? "issue";
  const words = noun.replaceAll("_", " ");
  const isList = verb === "list";
  const properties: Record<string, JsonSchema> = {
    owner: { type: "string", description: "The account owner. The name is not case sensitive." },
    project: { type: "string", description: "The name of the project without its extension." },
    ...(!isList && { id: { type: "integer", minimum: 1, description: `The number that identifies the ${words}.` } }),
    ...(isList && { state: { type: "string", enum: ["open", "closed", "all"], default: "open" } }),
    ...(isList && {
      per_page: { type: "integer", minimum: 1, maximum: 100, default: 30, description: "Results per page." },
    }),
    ...(at % 2 === 0 && {
      labels: { type: "array", items: { type: "string" }, description: "Only with these labels." },
    }),
    ...(verb === "create" && { body: { type: "string", description: `The contents of the ${words}, in Markdown.` } }),
  };
  return {
    name: `${verb}_${noun}`,
    description: `${verb[0]?.toUpperCase()}${verb.slice(1)} ${words} records of a project. Use this when the user asks about ${words} data; returns an error if the project does not exist.`,
    inputSchema: { type: "object", properties, required: isList ? ["owner", "project"] : ["owner", "project", "id"] },
    annotations: { readOnlyHint: isList || verb === "get" },
  };
}

function snapshotOf(definitions: readonly Definition[]): CatalogSnapshot {
  const servers = Object.entries(Object.groupBy(definitions, (_, at) => `server${Math.floor(at / TOOLS_PER_SERVER)}`));
  const contributions = servers.flatMap(([namespace, own = []]) => {
    const connector = parseConnectorId(namespace);
    const remote = own.map(({ inputSchema: input, ...rest }) => ({ ...rest, input, output: null }));
    return connector ? [{ connector, namespace, listing: runAtOnce(parseListing(remote, (text) => text)) }] : [];
  });
  return createSnapshot(contributions, 0);
}
