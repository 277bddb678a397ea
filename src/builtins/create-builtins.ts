/** The members of `glovebox` in every program (search, describe, results.read) and `fetch`, as bridge calls. */

import { digestOf } from "../text/index.ts";
import type { Builtin } from "../bridge/index.ts";
import type { SearchRequest, SearchResult } from "../catalog/index.ts";
import { parseConnectorId, parseToolAddress } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema, ResultQuery, Tool, ToolAddress } from "../domain/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";

import { createFetch } from "./create-fetch.ts";
import type { FetchPowers } from "./create-fetch.ts";

/** The host side of each, bound to one principal. The bridge has checked the arguments against their schema. */
export interface BuiltinPowers extends FetchPowers {
  search(request: SearchRequest): Promise<SearchResult>;
  describe(names: readonly string[], detail: DescribeDetail): Promise<string>;
  read(handle: string, query: ResultQuery): Promise<Json>;
}

const TEXT: JsonSchema = { type: "string", maxLength: 1_000 };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };

const SEARCH: JsonSchema = {
  type: "object",
  properties: {
    query: TEXT,
    server: TEXT,
    effect: { enum: ["read", "write", "destroy", "unknown"] },
    limit: { type: "integer", minimum: 1, maximum: 50 },
    cursor: TEXT,
  },
  additionalProperties: false,
};
const DESCRIBE: JsonSchema = {
  type: "object",
  properties: {
    names: { type: "array", items: TEXT, minItems: 1, maxItems: 50 },
    detail: { enum: ["brief", "types", "full"] },
  },
  required: ["names"],
  additionalProperties: false,
};
const READ: JsonSchema = {
  type: "object",
  properties: {
    handle: TEXT,
    path: TEXT,
    offset: COUNT,
    limit: { ...COUNT, minimum: 1 },
    grep: { ...TEXT, minLength: 1 },
  },
  required: ["handle"],
  additionalProperties: false,
};

/** The builtins of one execution, by address. */
export function createBuiltins(powers: BuiltinPowers): ReadonlyMap<ToolAddress, Builtin> {
  const builtins = [
    create("search", SEARCH, async (args) => toJson(await powers.search(parseSearch(args)))),
    create("describe", DESCRIBE, (args) => powers.describe(parseNames(args["names"]), parseDetail(args["detail"]))),
    create("results.read", READ, (args) => powers.read(parseText(args["handle"]) ?? "", parseQuery(args))),
    createFetch(powers),
  ];
  return new Map(builtins.map((builtin) => [builtin.tool.address, builtin]));
}

function create(name: string, input: JsonSchema, answer: Builtin["answer"]): Builtin {
  const address = parseToolAddress(`glovebox.${name}`);
  const connector = parseConnectorId("glovebox");
  if (!address || !connector) throw new TypeError(`The builtin name ${JSON.stringify(name)} is invalid`);
  const tool: Tool = {
    address,
    origin: { kind: "upstream", connector, remoteName: name },
    summary: "",
    description: "",
    input,
    output: null,
    effect: "read",
    digest: digestOf(JSON.stringify([name, input])),
  };
  return { tool, answer };
}

function toJson({ tools, cursor }: SearchResult): Json {
  return { tools: tools.map((tool) => ({ ...tool })), ...(cursor !== undefined && { cursor }) };
}

/** The bridge has checked the schema. */
function parseSearch(args: JsonObject): SearchRequest {
  return args;
}

function parseDetail(raw: Json | undefined): DescribeDetail {
  return raw === "brief" || raw === "full" ? raw : "types";
}

function parseNames(raw: Json | undefined): readonly string[] {
  return Array.isArray(raw) ? raw.filter((name: Json) => typeof name === "string") : [];
}

function parseText(raw: Json | undefined): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}

/** The bridge has checked the schema; this only reads the fields. */
function parseQuery({ path, offset, limit, grep }: JsonObject): ResultQuery {
  return {
    ...(typeof path === "string" && { path }),
    ...(typeof offset === "number" && { offset }),
    ...(typeof limit === "number" && { limit }),
    ...(typeof grep === "string" && { grep }),
  };
}
