/**
 * The schema of the configuration, key by key, with bounds, defaults and descriptions; larger sections are in the files
 * `*-schema.ts`. The input type, the JSON Schema for editors and the "expected …" of messages are generated from it.
 */

import { z } from "zod";

import { DAY_MS, HOUR_MS } from "../../timing/index.ts";
import type { Adapter, JsonObject } from "../../domain/index.ts";
import { analysisSchema } from "./analysis-schema.ts";
import { auditSchema, ledgerSchema } from "./audit-schema.ts";
import { isLoopbackHost, isSqliteUrl } from "../formats.ts";
import { journalSchema } from "./journal-schema.ts";
import { egressSchema } from "./network-schema.ts";
import { policySchema } from "./policy-schema.ts";
import { quotasSchema } from "./quotas-schema.ts";
import { sandboxSchema } from "./sandbox-schema.ts";
import { adapterSchema, openapiSchema, pinSchema, serverSchema } from "./upstream-schema.ts";
import { anomaliesSchema, metricsSchema, tracesSchema } from "./telemetry-schema.ts";
import { integer } from "./fields.ts";

const MIB = 1024 * 1024;

const catalogSchema = z
  .strictObject({
    learn: z.boolean().default(true).meta({
      description: "Learn the result types of tools whose servers do not declare them. Values are never stored.",
    }),
  })
  .prefault({})
  .meta({ description: "The catalog of tools." });

/** Checks each key separately; `check-relations.ts` checks keys that depend on each other. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().meta({ description: "For editors; has no effect." }),
  mcpServers: z
    .record(z.string(), serverSchema)
    .default({})
    .meta({ description: "Upstream MCP servers by name, in the format of MCP clients." }),
  pin: pinSchema.default("first-use").meta({
    description:
      "Whether a new tool is offered at first use, or only after `glovebox servers approve`. A changed tool always needs approval.",
  }),
  openapi: z
    .record(z.string(), openapiSchema)
    .default({})
    .meta({ description: "APIs by name, each described by an OpenAPI document." }),
  adapters: z
    .array(adapterSchema)
    .max(100)
    .default([])
    .meta({ description: "Modules that export an adapter, relative to the folder of this configuration." }),
  sandbox: sandboxSchema,
  egress: egressSchema,
  analysis: analysisSchema,
  policy: policySchema,
  quotas: quotasSchema,
  catalog: catalogSchema,
  audit: auditSchema,
  ledger: ledgerSchema,
  metrics: metricsSchema,
  traces: tracesSchema,
  anomalies: anomaliesSchema,
  store: z
    .strictObject({
      url: z
        .string()
        .refine(isSqliteUrl, 'expected "sqlite:" and the path of a file, or "sqlite::memory:"')
        .default("sqlite:./.glovebox/glovebox.db")
        .meta({ description: "The database, relative to the folder of this configuration." }),
    })
    .prefault({})
    .meta({ description: "Where Glovebox stores its data." }),
  expose: z.enum(["code", "tools", "both"]).default("code").meta({
    description: "What MCP clients see: search, describe and execute (code); every upstream tool (tools); or both.",
  }),
  clients: z
    .strictObject({
      patienceMs: integer(
        { min: 1, max: HOUR_MS, usual: 45_000 },
        "How long execute waits before it returns the state running; the client then calls resume.",
      ),
    })
    .prefault({})
    .meta({ description: "Settings for MCP clients." }),
  output: z
    .strictObject({
      escapeHtml: z.boolean().default(false).meta({
        description: "Escape HTML in results and prompts, for MCP clients that render them as HTML.",
      }),
    })
    .prefault({})
    .meta({ description: "How output is written." }),
  results: z
    .strictObject({
      keepMs: integer({ min: 1, max: 30 * DAY_MS, usual: DAY_MS }, "How long a large result is kept."),
      totalBytes: integer(
        { min: 1, max: 64 * 1024 * MIB, usual: 256 * MIB },
        "Total size of kept results; the oldest are deleted first.",
      ),
    })
    .prefault({})
    .meta({ description: "Results that are too large to return, kept to be read in parts." }),
  approvals: z
    .strictObject({
      expiryMs: integer(
        { min: 1, max: 365 * DAY_MS, usual: 7 * DAY_MS },
        "How long a call waits for approval, and how long a remembered decision is valid.",
      ),
      graceMs: integer(
        { min: 0, max: HOUR_MS, usual: 20_000 },
        "How long a program stays in memory while it waits for approval, before it is suspended.",
      ),
      elicitation: z.boolean().default(true).meta({
        description: "Request approvals through MCP clients that support elicitation; the client's answer decides.",
      }),
    })
    .prefault({})
    .meta({ description: "Calls that wait for approval." }),
  journal: journalSchema,
  server: z
    .strictObject({
      host: z
        .string()
        .refine(
          isLoopbackHost,
          "expected a loopback host (127.0.0.1, ::1 or localhost); use a tunnel for remote access",
        )
        .default("127.0.0.1")
        .meta({ description: "The loopback address that `glovebox serve` listens on." }),
      port: integer({ min: 0, max: 65_535, usual: 4747 }, "The port of `glovebox serve`; 0 chooses a free port."),
    })
    .prefault({})
    .meta({ description: "Where `glovebox serve` listens." }),
});

type WrittenConfig = z.input<typeof configSchema>;
type WrittenAdapter = NonNullable<WrittenConfig["adapters"]>[number];
type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

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

/** A configuration that passed the schema, with defaults. */
export type CheckedConfig = z.output<typeof configSchema>;

/** One entry of `mcpServers` that passed the schema. */
export type CheckedServer = CheckedConfig["mcpServers"][string];

/** One entry of `openapi` that passed the schema. */
export type CheckedApi = CheckedConfig["openapi"][string];

/** One entry of `adapters` that passed the schema. */
export type CheckedAdapter = CheckedConfig["adapters"][number];
/** One entry of `audit.export` that passed the schema. */
export type CheckedExport = CheckedConfig["audit"]["export"][number];

/** Returns the JSON Schema for editors, the content of `glovebox.schema.json`. Draft 7, which all editors support. */
export function createConfigSchema(): JsonObject {
  const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-7" });
  const plain: JsonObject = JSON.parse(JSON.stringify({ title: "Glovebox configuration", ...schema }));
  return plain;
}
