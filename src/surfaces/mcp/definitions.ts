/**
 * The tools that a client sees. They are constants: what upstreams offer is found by `search`, so the list stays
 * small and byte-stable, and a client's prompt cache stays warm when an upstream comes or goes.
 */

import type { Tool } from "@modelcontextprotocol/server";

/** How many names one `describe` takes. */
export const MAX_NAMES = 50;

/** How many tools one page of `search` has at most. */
export const MAX_PAGE = 50;

/** Told once per connection; repeats the order of work, because some clients show nothing else to the model. */
export const INSTRUCTIONS =
  "Many tools behind few: search finds them, describe shows their TypeScript signatures, execute runs one program that calls them.";

const READS_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const SEARCH: Tool = {
  name: "search",
  title: "Search tools",
  description:
    "Find tools of all connected servers. Work in this order: search, then describe the names you need, then call them in one execute program. An empty query browses. Also tells which servers are ready or failed, and why.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words that name the task" },
      server: { type: "string", description: "Only this server" },
      effect: { enum: ["read", "write", "destroy", "unknown"] },
      limit: { type: "integer", minimum: 1, maximum: MAX_PAGE },
      cursor: { type: "string", description: "From the page before" },
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
    "TypeScript declarations of tools, to read before writing a program. Names are as search gives them (github.listIssues), a whole server (github), or a result's handle (rs_…).",
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
    logs: { type: "array" },
    error: { type: "object" },
  },
};

const EXECUTE: Tool = {
  name: "execute",
  title: "Execute a program",
  description: [
    "Run a TypeScript or JavaScript program in a fresh sandbox where each server is a global object of async functions:",
    "const issues = await github.listIssues({ owner, repo });",
    "issues.filter((issue) => issue.open).length",
    "Top-level await works. The result is the last expression or what you return, as JSON; console output comes with it. Run independent calls in parallel with Promise.all. Filter and combine data in the program and return only what you need; a large result becomes a handle, read with glovebox.results.read(handle, { path, offset, limit, grep }). A tool that fails or is refused throws an error with code, message and retry. There is no network, file system, import or process: only the tools, standard ECMAScript and `input`.",
  ].join("\n"),
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string" },
      language: { enum: ["typescript", "javascript"] },
      input: { description: "Any JSON; the program reads it as `input`" },
      limits: {
        type: "object",
        description: "Tighter limits, such as wallMs, cpuMs, memoryBytes, calls",
        additionalProperties: { type: "integer", minimum: 1 },
      },
      dryRun: { type: "boolean", description: "Writes are listed, not made" },
      idempotencyKey: { type: "string", description: "The same for a retry: nothing happens twice" },
    },
    required: ["code"],
    additionalProperties: false,
  },
  outputSchema: EXECUTION_SCHEMA,
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

/** Also where upstream tools stand alone: without it nobody could read on in a large result. */
export const RESUME: Tool = {
  name: "resume",
  title: "Read on",
  description:
    "How an execution stands: its result, or state running. Or a part of a large result by its handle: at a path like a.b[0], a page of items or characters, or what contains the text grep.",
  inputSchema: {
    type: "object",
    properties: {
      execution: { type: "string", description: "ex_…" },
      handle: { type: "string", description: "rs_…" },
      path: { type: "string" },
      offset: { type: "integer", minimum: 0 },
      limit: { type: "integer", minimum: 1 },
      grep: { type: "string" },
    },
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { state: { type: "string" }, value: {} } },
  annotations: READS_ONLY,
};

/** In the order in which a model should use them. */
export const TOOL_DEFINITIONS: readonly Tool[] = [SEARCH, DESCRIBE, EXECUTE, RESUME];
