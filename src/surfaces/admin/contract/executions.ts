/** Executions: lists, one whole, and what a person does with one. */

import * as z from "zod/mini";

import { callRecord, effect, finding, isolation, labelSource, list, publicError } from "./base.ts";

const executionState = z.enum(["running", "completed", "failed", "paused", "cancelled"]);
const executionLine = {
  id: z.string(),
  principal: z.string(),
  startedAt: z.number(),
  endedAt: z.nullable(z.number()),
  state: executionState,
  errorCode: z.nullable(z.string()),
};

/**
 * `GET /api/executions?limit=&before=&state=&principal=&server=&tool=&since=&until=&search=`: the latest first. Times are
 * epoch milliseconds. `next` is where the next page starts (`before`): a search for text looks at a part of the list at a
 * time, so its page may be short or empty and have a next one.
 */
export const executionsSchema = z.object({
  executions: list(
    z.object({
      ...executionLine,
      /** The beginning of the program; absent for a viewer who may not see programs. */
      head: z.optional(z.string()),
      /** Some of the tools that it called, once it has paused or ended. */
      tools: list(z.string()),
    }),
  ),
  next: z.optional(z.string()),
});

/** Calls that a dry run did not make. */
const dryRun = z.object({
  writes: list(
    z.object({
      seq: z.number(),
      tool: z.string(),
      effect,
      decision: z.enum(["allow", "ask"]),
      args: z.optional(z.unknown()),
    }),
  ),
});

const executionResult = z.object({
  execution: z.string(),
  state: executionState,
  value: z.optional(z.unknown()),
  error: z.optional(publicError),
  logs: list(
    z.object({ level: z.enum(["log", "info", "warn", "error", "debug"]), text: z.string(), atMs: z.number() }),
  ),
  calls: list(
    z.object({
      ...callRecord,
      ms: z.number(),
      /** The number of the call of a skill that made this call. */
      under: z.optional(z.number()),
      /** True if a dry run answered it from its schema. */
      dryRun: z.optional(z.boolean()),
    }),
  ),
  findings: list(finding),
  dryRun: z.optional(dryRun),
  truncated: z.optional(z.object({ handle: z.string(), bytes: z.number(), shape: z.string() })),
  labels: z.optional(list(labelSource)),
  stats: z.object({
    queueMs: z.number(),
    wallMs: z.number(),
    cpuMs: z.number(),
    peakMemoryBytes: z.number(),
    calls: z.number(),
    outputBytes: z.number(),
  }),
  engine: z.string(),
  isolation,
});

/** `GET /api/executions/:id`, and the answer to `POST /api/executions/:id/cancel`. */
export const executionSchema = z.object({
  ...executionLine,
  /** Without it, the viewer may not see programs, results and logs. */
  source: z.optional(z.string()),
  result: executionResult,
  approvals: list(
    z.object({
      id: z.string(),
      seq: z.number(),
      tool: z.string(),
      state: z.enum(["pending", "approved", "rejected", "expired", "revoked"]),
      reason: z.string(),
      scope: z.optional(z.string()),
      decidedBy: z.optional(z.string()),
      decidedAt: z.optional(z.number()),
      createdAt: z.number(),
      note: z.optional(z.string()),
    }),
  ),
  /** When calls were made, as far as the ledger has it. */
  times: list(z.object({ seq: z.number(), startedAt: z.number(), endedAt: z.optional(z.number()) })),
  /** The id of the client's trace. */
  trace: z.optional(z.string()),
  /** Why there is neither a value nor logs: the key that opens them is missing. */
  sealed: z.optional(publicError),
});

/**
 * `POST /api/executions/:id/replay` with `{ "engine"? }`: the same program with the recorded replies, without any upstream.
 * Without `difference`, it came to the same result.
 */
export const replaySchema = z.object({ difference: z.optional(z.string()), result: executionResult });

/** `POST /api/executions/:id/export`: one document, to replay it elsewhere. It has all that the program received. */
export const exportSchema = z.record(z.string(), z.unknown());

/** Engines on which an execution can be replayed. */
export const REPLAY_ENGINES = ["isolate", "quickjs", "workerd"] as const;

export type ReplayAnswer = z.infer<typeof replaySchema>;
export type ExecutionsAnswer = z.infer<typeof executionsSchema>;
export type ExecutionAnswer = z.infer<typeof executionSchema>;

/** Executions in one answer. */
export const MAX_EXECUTIONS = 200;
