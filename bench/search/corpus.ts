/** The tools and queries of the search benchmark, and larger catalogs made of them. */

import { readFileSync } from "node:fs";

import { createSnapshot } from "../../src/catalog/create-snapshot.ts";
import type { Contribution } from "../../src/catalog/create-snapshot.ts";
import { nameNamespaces } from "../../src/catalog/name-tools.ts";
import { parseListing } from "../../src/catalog/parse-listing.ts";
import { parseConnectorId } from "../../src/domain/index.ts";
import type { CatalogSnapshot, JsonObject } from "../../src/domain/index.ts";
import { runAtOnce } from "../../src/timing/index.ts";

/** One query and the tools that answer it, as `server/name`. */
export interface Judged {
  readonly query: string;
  readonly right: ReadonlySet<string>;
  /** The heading of its section. */
  readonly kind: string;
}

/**
 * `mixed`: hundreds of tools of well-known services. `model`: the same tools, with requests in the words of a model to a
 * router. `everyday`: the servers of one person, with everyday words. `second`, `third` and `fourth`: queries of other
 * authors over both; nothing is tuned with the third ones, and with half of the fourth ones.
 */
const FILES = {
  mixed: { tools: "tools.txt", queries: "queries.txt" },
  model: { tools: "tools.txt", queries: "model-queries.txt" },
  everyday: { tools: "everyday-tools.txt", queries: "everyday-queries.txt" },
  second: { tools: "tools.txt", queries: "second-queries.txt" },
  "second everyday": { tools: "everyday-tools.txt", queries: "second-everyday-queries.txt" },
  third: { tools: "tools.txt", queries: "third-queries.txt" },
  "third everyday": { tools: "everyday-tools.txt", queries: "third-everyday-queries.txt" },
  fourth: { tools: "tools.txt", queries: "fourth-queries.txt" },
  "fourth everyday": { tools: "everyday-tools.txt", queries: "fourth-everyday-queries.txt" },
} as const;

export type Corpus = keyof typeof FILES;

const linesOf = (file: string): readonly string[] =>
  readFileSync(new URL(file, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");

/** Servers with their definitions, as a connector would list them. */
export function readServers(corpus: Corpus = "mixed"): ReadonlyMap<string, readonly JsonObject[]> {
  const servers = new Map<string, JsonObject[]>();
  let own: JsonObject[] = [];
  for (const line of linesOf(FILES[corpus].tools).filter((one) => !one.startsWith("#"))) {
    if (line.startsWith("@")) servers.set(line.slice(1), (own = []));
    else own.push(toDefinition(line));
  }
  return servers;
}

const HINTS = new Map([
  ["read", { readOnly: true }],
  ["write", { readOnly: false, destructive: false }],
  ["destroy", { readOnly: false, destructive: true }],
]);

function toDefinition(line: string): JsonObject {
  const [name = "", description = "", parameters = "", effect = ""] = line.split("|").map((part) => part.trim());
  const properties = parameters.split(/, (?=\w+(?:=|,|$))/).filter((part) => part !== "");
  const entries = properties.map((part) => {
    const [key = "", about = ""] = part.split("=", 2);
    return [key, toProperty(about)] as const;
  });
  const input = { type: "object", properties: Object.fromEntries(entries) };
  return { name, description, input, output: null, annotations: HINTS.get(effect) ?? {} };
}

/** `<a/b>` is one of these values, anything else a description. */
function toProperty(about: string): JsonObject {
  const values = /^<(.+)>$/.exec(about)?.[1];
  if (values !== undefined) return { type: "string", enum: values.split("/") };
  return { type: "string", ...(about !== "" && { description: about }) };
}

export function readQueries(corpus: Corpus = "mixed"): readonly Judged[] {
  const queries: Judged[] = [];
  let kind = "";
  for (const line of linesOf(FILES[corpus].queries)) {
    const [query = "", right] = line.split(" => ");
    if (line.startsWith("#")) kind = line.slice(2);
    else if (right !== undefined) queries.push({ query, kind, right: new Set(right.split(", ")) });
  }
  return queries;
}

export function toSnapshot(servers: ReadonlyMap<string, readonly JsonObject[]>): CatalogSnapshot {
  const namespaces = nameNamespaces(servers.keys());
  const contributions = [...servers].flatMap(([server, definitions]): readonly Contribution[] => {
    const [connector, namespace] = [parseConnectorId(server), namespaces.get(server)];
    if (connector === undefined || namespace === undefined) return [];
    return [{ connector, namespace, listing: runAtOnce(parseListing(definitions, (text) => text)) }];
  });
  return createSnapshot(contributions, 0);
}

/** At least `count` tools: the same tools again under other server names, with some words changed. */
export function multiply(count: number): ReadonlyMap<string, readonly JsonObject[]> {
  const [servers, grown] = [readServers(), new Map<string, readonly JsonObject[]>()];
  let total = 0;
  for (let round = 0; total < count; round += 1) {
    for (const [server, definitions] of servers) {
      if (total >= count) break;
      const own = definitions.slice(0, count - total).map((one, at) => vary(one, round, at));
      grown.set(round === 0 ? server : `${server}-${round}`, own);
      total += own.length;
    }
  }
  return grown;
}

function vary(definition: JsonObject, round: number, at: number): JsonObject {
  if (round === 0) return definition;
  const word = ((round * 7919 + at * 104_729) % 60_466_176).toString(36);
  return {
    ...definition,
    description: `${JSON.stringify(definition["description"])} Region ${word} of unit ${round}.`,
  };
}
