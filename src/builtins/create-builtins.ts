/** The members of `glovebox` in every program (search, describe, results.read, skills.draft) and `fetch`, as bridge calls. */

import { createBuiltinTool } from "../bridge/index.ts";
import type { Builtin } from "../bridge/index.ts";
import type { SearchRequest, SearchResult } from "../catalog/index.ts";
import { defined } from "../domain/index.ts";
import type { Json, JsonSchema, ResultQuery, ToolAddress } from "../domain/index.ts";
import type { RunSlice } from "../timing/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";

import { createDraft } from "./create-draft.ts";
import type { DraftBuiltinPowers } from "./create-draft.ts";
import { createFetch } from "./create-fetch.ts";
import type { FetchPowers } from "./create-fetch.ts";

/** The host side of each, bound to one principal. The bridge has checked the arguments against their schema. */
export interface BuiltinPowers extends FetchPowers, DraftBuiltinPowers {
  search(request: SearchRequest, spend: RunSlice): Promise<SearchResult>;
  describe(names: readonly string[], detail: DescribeDetail, spend: RunSlice): Promise<string>;
  read(handle: unknown, query: ResultQuery, spend: RunSlice): Promise<Json>;
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
const TOOLS = {
  search: createBuiltinTool("search", SEARCH),
  describe: createBuiltinTool("describe", DESCRIBE),
  read: createBuiltinTool("results.read", READ),
};

/** The builtins of one execution, by address. */
export function createBuiltins(powers: BuiltinPowers): ReadonlyMap<ToolAddress, Builtin> {
  const builtins: readonly Builtin[] = [
    { tool: TOOLS.search, answer: async (args, { spend }) => toJson(await powers.search(args, spend)) },
    {
      tool: TOOLS.describe,
      answer: ({ names, detail }, { spend }) => powers.describe(parseNames(names), parseDetail(detail), spend),
    },
    { tool: TOOLS.read, answer: ({ handle, ...query }, { spend }) => powers.read(handle, query, spend) },
    createDraft(powers),
    createFetch(powers),
  ];
  return new Map(builtins.map((builtin) => [builtin.tool.address, builtin]));
}

function toJson({ tools, cursor }: SearchResult): Json {
  return { tools: tools.map((tool) => ({ ...tool })), ...defined({ cursor }) };
}

function parseDetail(raw: Json | undefined): DescribeDetail {
  return raw === "brief" || raw === "full" ? raw : "types";
}

function parseNames(raw: Json | undefined): readonly string[] {
  return Array.isArray(raw) ? raw.filter((name: Json) => typeof name === "string") : [];
}
