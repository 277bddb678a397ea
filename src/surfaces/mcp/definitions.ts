/**
 * The tools that a client sees. They are constants: upstream tools are found with `search`, so the list stays small and
 * byte-stable, and a client's prompt cache stays warm when upstreams change.
 */

import type { Tool } from "@modelcontextprotocol/server";

import { MAX_NAMES, MAX_PAGE } from "../parse-request.ts";

/** Sent once per connection. Repeats the order of work, because some clients show only this to the model. */
export const INSTRUCTIONS =
  "Use search to find tools, describe for their TypeScript signatures, and execute to run one program that calls them.";

const READS_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const SEARCH: Tool = {
  name: "search",
  title: "Search tools",
  description:
    "Find tools of all connected servers. Work in this order: search, describe the names you need, then call them in one execute program. An empty query browses. Also returns the state of servers that failed, with the cause.",
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
    "Get TypeScript declarations of tools before you write a program. Pass names from search (github.listIssues), a whole server (github), or the handle of a result (rs_…).",
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
    "Top-level await works. The result is the last expression or what you return, as JSON; console output is returned too. Run independent calls in parallel with Promise.all. Filter and combine data in the program and return only what you need; a large result becomes a handle, read with glovebox.results.read(handle, { path, offset, limit, grep }). A tool that fails or is refused throws an error with code, message and retry. Network, files, imports and processes do not exist: only the tools, standard ECMAScript and `input`.",
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
      dryRun: { type: "boolean", description: "List writes instead of making them" },
      idempotencyKey: { type: "string", description: "Reuse the key when retrying; the program runs at most once" },
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
    "Get the result of an execution, or its state if it is running or paused. Or read a part of a large result by its handle: at a path like a.b[0], a page of items or characters, or the parts that contain grep.",
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
