/**
 * The tools that a client sees. They are constants: upstream tools are found with `search`, so the list stays small and
 * byte-stable, and a client's prompt cache stays warm when upstreams change.
 */

import type { Tool } from "@modelcontextprotocol/server";

import { MAX_NAMES, MAX_PAGE } from "../parse-request.ts";

const MAX_INSTRUCTIONS = 480; // 120 tokens
const WORK =
  "search finds tools with their signatures, execute runs one program that calls them; describe shows types that a signature omits.";

/**
 * Sent once per connection. Names what is behind the gateway and repeats the order of work, because some clients show only
 * this to the model. The same names have the same instructions.
 */
export function writeInstructions(namespaces: readonly string[]): string {
  const room = MAX_INSTRUCTIONS - `Servers: . ${WORK}`.length;
  const shown: string[] = [];
  let text = "";
  for (const name of namespaces) {
    shown.push(name);
    const more = namespaces.length - shown.length;
    const next = `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    if (next.length > room && shown.length > 1) break;
    text = next.slice(0, room);
  }
  return text === "" ? WORK : `Servers: ${text}. ${WORK}`;
}

const READS_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const SEARCH: Tool = {
  name: "search",
  title: "Search tools",
  description:
    "Find tools of all connected servers. Call those with a TypeScript signature in one execute program at once; describe the others first. An empty query lists servers and tools.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words that describe the task" },
      server: { type: "string", description: "Only this server" },
      effect: { enum: ["read", "write", "destroy", "unknown"] },
      limit: { type: "integer", minimum: 1, maximum: MAX_PAGE },
      cursor: { type: "string", description: "From the previous page" },
    },
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { tools: { type: "array" }, servers: { type: "array" }, cursor: { type: "string" } },
  },
  annotations: READS_ONLY,
};

const DESCRIBE: Tool = {
  name: "describe",
  title: "Describe tools",
  description:
    "Get TypeScript declarations with comments, if a signature of search is not enough. Pass names (github.listIssues), a whole server (github), or the handle of a result (rs_…).",
  inputSchema: {
    type: "object",
    properties: {
      names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: MAX_NAMES },
      detail: {
        enum: ["brief", "types", "full"],
        description: "brief: one line each; types (default): signatures; full: with all descriptions",
      },
    },
    required: ["names"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { declarations: { type: "string" } } },
  annotations: READS_ONLY,
};

const EXECUTION_SCHEMA: Tool["outputSchema"] = {
  type: "object",
  properties: {
    execution: { type: "string" },
    state: { type: "string" },
    value: {},
    error: { type: "object" },
    callCount: { type: "integer" },
  },
};

const EXECUTE: Tool = {
  name: "execute",
  title: "Execute",
  description: [
    "Run a TypeScript or JavaScript program in a fresh sandbox where each server is a global object of async functions:",
    "const issues = await github.listIssues({ owner, repo });",
    "issues.filter((issue) => issue.open).length",
    "Top-level await works. The result is the last expression or what you return, as JSON, with console output. Run independent calls in parallel with Promise.all. Filter and combine data in the program and return only what you need; a large result becomes a handle, read with glovebox.results.read(handle, { path, offset, limit, grep }). A tool that fails or is refused throws an error with code, message and retry. Network, files, imports and processes do not exist: only the tools, standard ECMAScript and `input`.",
  ].join("\n"),
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string" },
      language: { enum: ["typescript", "javascript"] },
      input: { description: "Any JSON, in the program as `input`" },
      limits: {
        type: "object",
        description: "Tighter ones: wallMs, cpuMs, memoryBytes, calls",
        additionalProperties: { type: "integer", minimum: 1 },
      },
      dryRun: { type: "boolean", description: "List writes instead of making them" },
      idempotencyKey: { type: "string", description: "Reuse it when retrying: runs at most once" },
      detail: { const: "full", description: "Adds calls and statistics" },
    },
    required: ["code"],
    additionalProperties: false,
  },
  outputSchema: EXECUTION_SCHEMA,
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

/** Also offered beside plain upstream tools, because their large results are read with it. */
export const RESUME: Tool = {
  name: "resume",
  title: "Resume",
  description:
    "Get the result of an execution, or its state while it runs or waits. Or read a part of a large result by handle: at a path like a.b[0], a page, or the parts that contain grep.",
  inputSchema: {
    type: "object",
    properties: {
      execution: { type: "string", description: "ex_…" },
      handle: { type: "string", description: "rs_…" },
      path: { type: "string" },
      offset: { type: "integer", minimum: 0 },
      limit: { type: "integer", minimum: 1 },
      grep: { type: "string" },
      detail: { const: "full" },
    },
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { state: { type: "string" }, value: {} } },
  annotations: READS_ONLY,
};

/** In the order in which a model should use them. */
export const TOOL_DEFINITIONS: readonly Tool[] = [SEARCH, DESCRIBE, EXECUTE, RESUME];
