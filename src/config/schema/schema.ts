/**
 * The schema of the configuration, key by key, with bounds, defaults and descriptions; larger sections are in the files
 * `*-schema.ts`. The input type, the JSON Schema for editors and the "expected …" of messages are generated from it.
 */

import { z } from "zod";

import { DAY_MS, HOUR_MS } from "../../timing/index.ts";
import type { Adapter, JsonObject } from "../../domain/index.ts";
import { analysisSchema } from "./analysis-schema.ts";
import { auditSchema, ledgerSchema } from "./audit-schema.ts";
import { isSqliteUrl } from "../formats.ts";
import { egressSchema } from "./network-schema.ts";
import { policySchema } from "./policy-schema.ts";
import { profilesSchema } from "./profiles-schema.ts";
import { quotasSchema } from "./quotas-schema.ts";
import { sandboxSchema } from "./sandbox-schema.ts";
import { serverSchema as listenSchema } from "./server-schema.ts";
import { adapterSchema, openapiSchema, pinSchema, serverSchema } from "./upstream-schema.ts";
import { notifySchema } from "./notify-schema.ts";
import { anomaliesSchema, metricsSchema, tracesSchema } from "./telemetry-schema.ts";
import { choice, flag, integer, nonEmptyString, optional } from "./fields.ts";

const MIB = 1024 * 1024;
const MOST_TOKENS = 25_000;

/** Checks each key separately; `check-relations.ts` checks keys that depend on each other. */
export const configSchema = z.strictObject({
  $schema: optional(z.string(), "For editors; has no effect."),
  mcpServers: z
    .record(z.string(), serverSchema)
    .default({})
    .describe("Upstream MCP servers by name, in the format of MCP clients."),
  pin: pinSchema
    .default("first-use")
    .describe(
      "Whether a new tool is offered at first use, or only after `glovebox servers approve`. A changed tool always needs approval.",
    ),
  openapi: z
    .record(z.string(), openapiSchema)
    .default({})
    .describe("APIs by name, each described by an OpenAPI document."),
  adapters: z
    .array(adapterSchema)
    .max(100)
    .default([])
    .describe("Modules that export an adapter, relative to the folder of this configuration."),
  sandbox: sandboxSchema,
  egress: egressSchema,
  analysis: analysisSchema,
  policy: policySchema,
  quotas: quotasSchema,
  profiles: profilesSchema,
  catalog: z
    .strictObject({
      learn: flag(true, "Learn the result types of tools whose servers do not declare them. Values are never stored."),
      searchTokens: integer(
        [100, MOST_TOKENS],
        600,
        "The most tokens (four characters each) of an answer of `search` to an MCP client.",
      ),
      describeTokens: integer(
        [200, MOST_TOKENS],
        4_000,
        "The same for `describe`; what does not fit gets one line, or is counted.",
      ),
    })
    .prefault({})
    .describe("The catalog of tools."),
  audit: auditSchema,
  ledger: ledgerSchema,
  metrics: metricsSchema,
  traces: tracesSchema,
  anomalies: anomaliesSchema,
  store: z
    .strictObject({
      url: optional(
        z.string().refine(isSqliteUrl, 'expected "sqlite:" and the path of a file, or "sqlite::memory:"'),
        "The database, relative to the folder of this configuration. Default: a file in the user's state folder.",
      ),
      minFreeBytes: integer(
        [0, 1024 * 1024 * 1024 * MIB],
        256 * MIB,
        "While less is free on the disk of the store, new executions are refused. 0 turns this off.",
      ),
      durability: choice(
        ["default", "always"],
        "What is on disk before a result is returned: everything for executions that may have changed something, the rest within 200 ms (default); or everything (always).",
      ),
    })
    .prefault({})
    .describe("Where Glovebox stores its data."),
  expose: choice(
    ["code", "tools", "both"],
    "What MCP clients see: search, describe and execute (code); every upstream tool (tools); or both.",
  ),
  clients: z
    .strictObject({
      patienceMs: integer(
        [1, HOUR_MS],
        45_000,
        "How long execute waits before it returns the state running; the client then calls resume.",
      ),
    })
    .prefault({})
    .describe("Settings for MCP clients."),
  output: z
    .strictObject({
      escapeHtml: flag(false, "Escape HTML in results and prompts, for MCP clients that render them as HTML."),
    })
    .prefault({})
    .describe("How output is written."),
  results: z
    .strictObject({
      keepMs: integer([1, 30 * DAY_MS], DAY_MS, "How long a large result is kept."),
      totalBytes: integer([1, 64 * 1024 * MIB], 256 * MIB, "Total size of kept results; the oldest are deleted first."),
    })
    .prefault({})
    .describe("Results that are too large to return, kept to be read in parts."),
  executions: z
    .strictObject({
      keepMs: integer([1, 3650 * DAY_MS], 30 * DAY_MS, "How long an execution is kept after it ended."),
      totalBytes: integer(
        [1, 65_536 * MIB],
        1024 * MIB,
        "Total size of the sources and results of ended executions; the oldest are deleted first.",
      ),
    })
    .prefault({})
    .describe("Ended executions. Their journals and kept results are deleted with them, or earlier."),
  approvals: z
    .strictObject({
      expiryMs: integer(
        [1, 365 * DAY_MS],
        7 * DAY_MS,
        "How long a call waits for approval, and how long a remembered decision is valid.",
      ),
      graceMs: integer(
        [0, HOUR_MS],
        20_000,
        "How long the program of a client with forms stays in memory while it waits for approval, before it is suspended.",
      ),
      evidenceMs: integer(
        [0, 10_000],
        300,
        "Processor time for replays of a program with other data, to show what a call depends on; 0 turns it off.",
      ),
      evidenceRounds: integer([0, 20], 4, "How often it is replayed with other data; 0 turns it off."),
      elicitation: flag(
        true,
        "Request approvals through MCP clients that support elicitation; the client's answer decides.",
      ),
      separate: flag(false, "Require that another person decides than the one behind the agent."),
      fourEyes: flag(false, "Require two different people for calls with the effect destroy."),
      showArguments: choice(
        ["all", "reviewers"],
        "Who sees the arguments and the program of a call: everyone who sees approvals, or people with the role reviewer, who alone decide then.",
      ),
      notify: notifySchema,
    })
    .prefault({})
    .describe("Calls that wait for approval."),
  journal: z
    .strictObject({
      keepMs: integer([0, 365 * DAY_MS], 7 * DAY_MS, "How long an execution can be replayed after it ended."),
      totalBytes: integer(
        [1, 65_536 * MIB],
        1024 * MIB,
        "Total size of the journals of ended executions; the oldest are deleted first.",
      ),
      executionBytes: integer(
        [1, 4096 * MIB],
        64 * MIB,
        "Size of the journal of one execution; above it, the execution can be neither suspended nor replayed.",
      ),
    })
    .prefault({})
    .describe(
      "Encrypted deliveries to programs, used to resume executions after a suspension or crash and to replay them.",
    ),
  skills: z
    .strictObject({
      folder: optional(
        nonEmptyString,
        "Where approved skills are written, relative to the folder of this configuration. Default: beside the store.",
      ),
      overMcp: z
        .boolean()
        .default(false)
        .describe("Serve the files of approved skills, and of skills of servers, to MCP clients (SEP-2640)."),
    })
    .prefault({})
    .describe("Skills: tools that people and models write."),
  server: listenSchema,
});

type WrittenConfig = z.input<typeof configSchema>;
type WrittenAdapter = NonNullable<WrittenConfig["adapters"]>[number];
export type DeepReadonly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
  : Value;

/** A configuration before it is checked: the content of the file, or the argument of the library. */
export type GloveboxConfig = DeepReadonly<Omit<WrittenConfig, "adapters">> & {
  /** Adapter objects (in a TypeScript file or the library), or paths of modules that export one. */
  readonly adapters?: readonly (string | Adapter | AdapterEntry)[] | undefined;
};

type AdapterEntry = DeepReadonly<Omit<Exclude<WrittenAdapter, string>, "module">> & {
  readonly module: string | Adapter;
};

/** Returns its argument, for types only: the file is checked when it is loaded. */
export function defineConfig(config: GloveboxConfig): GloveboxConfig {
  return config;
}

export type CheckedConfig = z.output<typeof configSchema>;

/** Returns the JSON Schema for editors, the content of `glovebox.schema.json`. Draft 7, which all editors support. */
export function createConfigSchema(): JsonObject {
  return { title: "Glovebox configuration", ...toJsonSchema(configSchema) };
}

export function toJsonSchema(schema: z.ZodType): JsonObject {
  const plain: JsonObject = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input", target: "draft-7" })));
  return plain;
}
