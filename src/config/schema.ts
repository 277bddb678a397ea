/**
 * The shape of the configuration, key by key, with bounds, defaults and descriptions.
 * The input type, the JSON Schema for editors and the "expected …" of every message are made from it.
 */

import { z } from "zod";

import { DEFAULT_LIMITS } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { isExportUrl, isHttpUrl, isLoopbackHost, isSqliteUrl } from "./formats.ts";
import { journalSchema } from "./journal-schema.ts";
import { egressSchema, networkPolicySchema, serverPolicySchema, upstreamPolicySchemas } from "./network-schema.ts";
import { oauthSchema } from "./oauth-schema.ts";
import { policySchema } from "./policy-schema.ts";
import { quotasSchema } from "./quotas-schema.ts";
import { secretGrantsSchema } from "./secrets-schema.ts";
import { anomaliesSchema, metricsSchema, tracesSchema } from "./watching-schema.ts";
import { whole } from "./whole.ts";

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;
const MAX_PAYLOAD_BYTES = 64 * MIB;

// String formats are refinements, not patterns: an editor must accept "${VAR}" where the expanded text is checked.
// A message that starts with "expected" is shown as it is; see `report-issues.ts`.

const text = z.string().refine((value) => !value.includes("\0"), "expected text without a NUL character");
const nonEmptyText = text.min(1);

/** The ranges of all limits, also of those that come from the command line. */
export const limitsSchema = z
  .strictObject({
    wallMs: whole({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.wallMs }, "Time from start to end, waiting included."),
    cpuMs: whole({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.cpuMs }, "Processor time of one program."),
    memoryBytes: whole(
      { min: 8 * MIB, max: 4096 * MIB, usual: DEFAULT_LIMITS.memoryBytes },
      "What one program may hold, on and off the heap.",
    ),
    calls: whole({ min: 1, max: 100_000, usual: DEFAULT_LIMITS.calls }, "Attempts to call a tool, refused ones too."),
    concurrentCalls: whole({ min: 1, max: 1000, usual: DEFAULT_LIMITS.concurrentCalls }, "Calls under way at once."),
    callMs: whole({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.callMs }, "Time that one call may take."),
    sourceBytes: whole({ min: 1, max: MIB, usual: DEFAULT_LIMITS.sourceBytes }, "Size of a program's source."),
    outputBytes: whole(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.outputBytes },
      "Result and logs of one program together.",
    ),
    argumentBytes: whole(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.argumentBytes },
      "Arguments of one call.",
    ),
    resultBytes: whole({ min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.resultBytes }, "Result of one call."),
    depth: whole({ min: 1, max: 512, usual: DEFAULT_LIMITS.depth }, "Nesting of arguments and results."),
  })
  .prefault({})
  .meta({ description: "What one execution may use. A request can ask for less, never for more." });

const sandboxSchema = z
  .strictObject({
    engine: z.enum(["isolate", "quickjs", "workerd"]).default("isolate").meta({
      description:
        "What runs programs: a V8 isolate; QuickJS in WebAssembly where the native module cannot load; or a Dynamic Worker of workerd, a package of its own.",
    }),
    isolation: z.enum(["auto", "strict", "process"]).default("auto").meta({
      description: "auto takes the best level of this machine, strict refuses to run with less than the full one.",
    }),
    concurrency: whole({ min: 1, max: 256, usual: 5 }, "Executions that run at once."),
    queue: whole({ min: 0, max: 10_000, usual: 100 }, "Executions that may wait; further ones are refused as busy."),
    limits: limitsSchema,
    networkPolicy: networkPolicySchema,
    secrets: secretGrantsSchema,
  })
  .prefault({})
  .meta({ description: "How programs run." });

function rule(description: string) {
  return z.enum(["error", "warn", "off"]).optional().meta({ description });
}

const analysisSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Check programs before they run." }),
    blockOnError: z
      .boolean()
      .default(true)
      .meta({ description: "Refuse a program that breaks a rule of level error." }),
    types: z.enum(["error", "warn", "off"]).default("error").meta({
      description: "Check programs against the types of the tools: error refuses what does not fit, warn only says so.",
    }),
    rules: z
      .strictObject({
        "no-external-import": rule("Imports of modules, which do not exist in the sandbox."),
        "no-dynamic-import": rule("import() and import.meta."),
        "no-eval": rule("eval, Function and timers that take source text."),
        "no-dangerous-globals": rule("Names of other places, such as process, require, window or Deno."),
        "no-prototype-pollution": rule("Changes to __proto__ and to the prototypes of built-in classes."),
        "no-infinite-loop": rule("A loop that nothing in it can end."),
        "no-nested-loops": rule("A loop inside another one."),
        "no-tool-in-loop": rule("Tool calls that wait for each other in a loop without need."),
        "no-unhandled-async": rule("Async functions and promises that nobody waits for."),
        "no-unawaited-call": rule("A tool call whose promise is dropped, or used as if it were the result."),
        "no-invisible-characters": rule("Bidirectional controls, characters that nobody can see, look-alikes."),
        "max-source-size": rule("A source above a quarter of the limit sourceBytes."),
      })
      .prefault({})
      .meta({ description: "The level of each rule: error, warn or off." }),
  })
  .prefault({})
  .meta({ description: "Checks of a program before it runs. Help and early warning, not the wall." });

const catalogSchema = z
  .strictObject({
    learn: z.boolean().default(true).meta({
      description: "Learn from results which fields a tool returns when its server does not say; never a value.",
    }),
  })
  .prefault({})
  .meta({ description: "What is known about the tools of upstreams." });

const pinSchema = z.enum(["first-use", "approve"]);

const serverSchema = z
  .strictObject({
    type: z
      .enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"])
      .optional()
      .meta({ description: "The transport. Needed for sse only: command means stdio, url means Streamable HTTP." }),
    command: nonEmptyText.optional().meta({ description: "The program that is the server; started without a shell." }),
    args: z.array(text).optional().meta({ description: "Arguments of the command." }),
    env: z.record(z.string(), text).optional().meta({ description: "Its environment; may hold ${secret:NAME}." }),
    cwd: nonEmptyText.optional().meta({ description: "Its working folder, relative to this file's folder." }),
    url: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use headers for those)")
      .optional()
      .meta({ description: "The address of a server that speaks Streamable HTTP, or SSE if type says so." }),
    headers: z.record(z.string(), text).optional().meta({ description: "Sent to url; may hold ${secret:NAME}." }),
    oauth: oauthSchema,
    networkPolicy: serverPolicySchema,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for this server alone." }),
    start: z.enum(["eager", "lazy"]).default("eager").meta({
      description: "eager connects when Glovebox starts, lazy when somebody first asks for tools or runs a program.",
    }),
    startupTimeoutMs: whole({ min: 1, max: 600_000, usual: 30_000 }, "How long the server may take to get ready."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true leaves the server out; nothing else of its entry is checked then." }),
  })
  .meta({ description: "One upstream.", oneOf: [{ required: ["command"] }, { required: ["url"] }] });

const openapiSchema = z
  .strictObject({
    document: nonEmptyText.meta({
      description: "The OpenAPI document: a file, relative to this file's folder, or an http or https URL.",
    }),
    baseUrl: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use auth or headers for those)")
      .optional()
      .meta({ description: "Where the API is; left out, the document's first server." }),
    headers: z.record(z.string(), text).optional().meta({ description: "Sent with calls; may hold ${secret:NAME}." }),
    auth: z.record(z.string(), text).optional().meta({
      description: "The credential of each security scheme of the document, by name; may hold ${secret:NAME}.",
    }),
    include: z
      .array(nonEmptyText)
      .min(1)
      .optional()
      .meta({ description: 'Operations to offer: "list*", or "GET /pets/*" with method and path. Left out, all.' }),
    exclude: z.array(nonEmptyText).min(1).optional().meta({ description: "Operations to leave out, as in include." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for this API alone." }),
    startupTimeoutMs: whole({ min: 1, max: 600_000, usual: 30_000 }, "How long reading the document may take."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true leaves the API out; nothing else of its entry is checked then." }),
  })
  .meta({ description: "One API." });

const adapterSchema = z.union([
  nonEmptyText,
  z.strictObject({
    module: nonEmptyText.meta({ description: "The module, relative to this file's folder." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for the adapters of this module alone." }),
  }),
]);
const exportSchema = z
  .strictObject({
    kind: z.enum(["file", "syslog", "otlp"]).meta({
      description: "Where records go: a file of JSON Lines, a syslog receiver (RFC 5424), or OpenTelemetry over HTTP.",
    }),
    path: nonEmptyText.optional().meta({ description: "For file: the file, relative to this file's folder." }),
    url: z
      .string()
      .refine(isExportUrl, "expected tcp:// or udp:// with host and port, or an http or https URL without user name")
      .optional()
      .meta({ description: "For syslog: tcp://host:port or udp://host:port. For otlp: where logs are sent." }),
    headers: z.record(z.string(), text).optional().meta({ description: "For otlp; may hold ${secret:NAME}." }),
  })
  .meta({ description: "One place that every record is sent to." });

const auditSchema = z
  .strictObject({
    previews: z.boolean().default(false).meta({
      description: "Keep the beginning of arguments and results in the ledger, not only their digests.",
    }),
    export: z.array(exportSchema).max(10).default([]).meta({ description: "Where records are sent as they come." }),
  })
  .prefault({})
  .meta({ description: "What records say, and where they go beside the store." });

const ledgerSchema = z
  .strictObject({
    retention: z
      .strictObject({
        days: z.int().min(1).max(36_500).optional().meta({ description: "Records older than this are dropped." }),
        records: z
          .int()
          .min(1)
          .max(1_000_000_000)
          .optional()
          .meta({ description: "Records beyond this many, counted from the newest, are dropped." }),
      })
      .prefault({})
      .meta({ description: "What is dropped, up to a signed checkpoint. Left out, everything is kept." }),
  })
  .prefault({})
  .meta({ description: "How long records are kept." });

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

/** A configuration as a person writes it, before it is checked. */
export type WrittenConfig = z.input<typeof configSchema>;

/** One entry of `adapters` as a person writes it. */
export type WrittenAdapter = NonNullable<WrittenConfig["adapters"]>[number];

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
