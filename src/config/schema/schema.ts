/**
 * The shape of the configuration, key by key, with bounds, defaults and descriptions; its larger sections are the files
 * `*-schema.ts` beside it. The input type, the JSON Schema for editors and the "expected …" of every message are made
 * from it.
 */

import { z } from "zod";

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
import { whole } from "./fields.ts";

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

const catalogSchema = z
  .strictObject({
    learn: z.boolean().default(true).meta({
      description: "Learn from results which fields a tool returns when its server does not say; never a value.",
    }),
  })
  .prefault({})
  .meta({ description: "What is known about the tools of upstreams." });

/** Checks everything that concerns one key by itself; rules that join keys are in `check-relations.ts`. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().meta({ description: "For editors; has no effect." }),
  mcpServers: z
    .record(z.string(), serverSchema)
    .default({})
    .meta({ description: "Upstream MCP servers by name, in the shape that MCP clients use." }),
  pin: pinSchema.default("first-use").meta({
    description:
      "Whether a tool that was never seen is offered at once, or after `glovebox servers approve`. A changed one always waits.",
  }),
  openapi: z
    .record(z.string(), openapiSchema)
    .default({})
    .meta({ description: "APIs by name, each described by an OpenAPI document." }),
  adapters: z
    .array(adapterSchema)
    .max(100)
    .default([])
    .meta({ description: "Modules that export an adapter, relative to this file's folder." }),
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
        .refine(isSqliteUrl, 'expected "sqlite:" and the path of a file, or "sqlite::memory:"; no other store exists')
        .default("sqlite:./.glovebox/glovebox.db")
        .meta({ description: "Where records are kept, relative to this file's folder." }),
    })
    .prefault({})
    .meta({ description: "What Glovebox remembers, and where." }),
  expose: z.enum(["code", "tools", "both"]).default("code").meta({
    description: "What MCP clients see: search, describe and execute; every upstream tool under its own name; or both.",
  }),
  clients: z
    .strictObject({
      patienceMs: whole(
        { min: 1, max: HOUR_MS, usual: 45_000 },
        "How long execute keeps an MCP client waiting before it answers running, to be asked on with resume.",
      ),
    })
    .prefault({})
    .meta({ description: "What MCP clients can take." }),
  output: z
    .strictObject({
      escapeHtml: z.boolean().default(false).meta({
        description: "Escape HTML in the texts of results and prompts, for MCP clients that show them as HTML.",
      }),
    })
    .prefault({})
    .meta({ description: "How texts leave." }),
  results: z
    .strictObject({
      keepMs: whole({ min: 1, max: 30 * 24 * HOUR_MS, usual: 24 * HOUR_MS }, "How long a large result can be read."),
      totalBytes: whole(
        { min: 1, max: 64 * 1024 * MIB, usual: 256 * MIB },
        "All kept results together; the oldest make room.",
      ),
    })
    .prefault({})
    .meta({ description: "Results that are too large to be given out, kept to be read in parts." }),
  approvals: z
    .strictObject({
      expiryMs: whole(
        { min: 1, max: 365 * 24 * HOUR_MS, usual: 7 * 24 * HOUR_MS },
        "How long a call that a rule asks about waits for a person, and how long a remembered decision counts.",
      ),
      graceMs: whole(
        { min: 0, max: HOUR_MS, usual: 20_000 },
        "How long a program itself waits for a person before it is put away until the decision.",
      ),
      elicitation: z.boolean().default(true).meta({
        description: "Ask the person at an MCP client that can show forms; what the client answers decides.",
      }),
    })
    .prefault({})
    .meta({ description: "Calls that wait for a person." }),
  journal: journalSchema,
  server: z
    .strictObject({
      host: z
        .string()
        .refine(
          isLoopbackHost,
          "expected a loopback host (127.0.0.1, ::1 or localhost): there is no remote mode yet; come in through a tunnel",
        )
        .default("127.0.0.1")
        .meta({ description: "The loopback address that `glovebox serve` listens on." }),
      port: whole({ min: 0, max: 65_535, usual: 4747 }, "The port of `glovebox serve`; 0 takes any free one."),
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

/** The JSON Schema that editors use, the content of `glovebox.schema.json`. Draft 7, which every editor understands. */
export function createConfigSchema(): JsonObject {
  const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-7" });
  const plain: JsonObject = JSON.parse(JSON.stringify({ title: "Glovebox configuration", ...schema }));
  return plain;
}
