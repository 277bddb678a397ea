/**
 * The schemas and types of the answers of the admin API, with those in `contract/`, which has one file for each page.
 * These, `login-contract.ts` and `next-address.ts` are all of this folder that the admin page and the command line may
 * import. They use `zod/mini`, because they are bundled into the page.
 */

import * as z from "zod/mini";

import { callPlan, callRecord, effect, isolation, labelSource, list, place } from "./contract/base.ts";

/** One upstream, with what an operator needs to repair it. */
const upstreamSchema = z.object({
  name: z.string(),
  state: z.enum(["idle", "connecting", "ready", "failed", "needs-login", "suspended", "closed"]),
  transport: z.enum(["stdio", "http", "sse", "openapi", "adapter"]),
  era: z.optional(z.string()),
  tools: z.number(),
  since: z.number(),
  withheld: z.optional(z.number()),
  cause: z.optional(z.string()),
  hint: z.optional(z.string()),
  stderr: z.optional(list(z.string())),
  /** Absent for an upstream that is not confined. */
  confinement: z.optional(
    z.object({
      level: z.enum(["files", "strict"]),
      refusedHosts: z.optional(list(z.string())),
      missingFiles: z.optional(list(z.string())),
    }),
  ),
});

/** `GET /api/status`. Times are epoch milliseconds. */
export const statusSchema = z.object({
  version: z.string(),
  engine: z.string(),
  isolation,
  /** What each layer of confinement prevents, or why it is missing and the remedy. */
  layers: list(z.object({ name: z.string(), present: z.boolean(), message: z.string(), hint: z.optional(z.string()) })),
  startedAt: z.number(),
  upstreams: list(upstreamSchema),
});

/** What the page shows that can change by itself. `GET /api/events` names what to ask for again. */
export const TOPICS = ["approvals", "executions", "servers", "skills"] as const;

/** `GET /api/tools?query=&cursor=`: the tools that agents can use. */
export const toolsSchema = z.object({
  tools: list(
    z.object({
      name: z.string(),
      summary: z.string(),
      effect,
      server: z.string(),
      upstreamName: z.string(),
    }),
  ),
  cursor: z.optional(z.string()),
});

const evidenceSource = z.object({ tool: z.string(), seq: z.number() });
const evidenceCause = z.object({ sources: list(evidenceSource), isOneOf: z.boolean() });

/** What replays with other data showed about a call that the data-flow guard asks about. */
const evidenceSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("compared"),
    rounds: z.number(),
    wanted: z.number(),
    made: z.number(),
    sources: list(evidenceSource),
    control: z.optional(evidenceCause),
    args: list(
      z.discriminatedUnion("finding", [
        z.object({
          name: z.string(),
          finding: z.literal("changed"),
          cause: evidenceCause,
          contains: list(evidenceSource),
        }),
        z.object({ name: z.string(), finding: z.enum(["unchanged", "constant"]) }),
      ]),
    ),
    hadRead: z.boolean(),
  }),
  z.object({ kind: z.literal("none"), reason: z.string() }),
]);

/** One waiting or decided approval. Secrets are masked; text is not cleaned. */
const approvalSchema = z.object({
  id: z.string(),
  execution: z.string(),
  seq: z.number(),
  principal: z.string(),
  session: z.optional(z.string()),
  tool: z.string(),
  definition: z.string(),
  effect,
  args: z.unknown(),
  argsShown: z.optional(z.enum(["beginning", "dropped", "damaged", "hidden"])),
  argsDigest: z.string(),
  plan: z.optional(callPlan),
  evidence: z.optional(evidenceSchema),
  rule: z.string(),
  reason: z.string(),
  labels: list(labelSource),
  createdAt: z.number(),
  expiresAt: z.number(),
  state: z.enum(["pending", "approved", "rejected", "expired", "revoked"]),
  scope: z.optional(z.enum(["call", "execution", "session", "session-tool"])),
  decidedBy: z.optional(z.string()),
  decidedAt: z.optional(z.number()),
  note: z.optional(z.string()),
});

/** `GET /api/approvals?all=&execution=&after=&limit=`: waiting ones first; without `all=true` only those. */
export const approvalsSchema = z.object({ approvals: list(approvalSchema) });

/** `POST /api/approvals/:id` with `{ "verdict": "approve" | "reject" | "revoke", "scope"?, "note"? }`. The scopes `always-tool` and `always-arguments` write a rule. */
export const approvalAnswerSchema = z.object({ approval: approvalSchema });

/** `GET /api/approvals/:id/rule?scope=`: the rule that a decision for good would write, and the file. */
export const proposedRuleSchema = z.object({ rule: z.looseObject({ id: z.string() }), file: z.string() });

/**
 * `GET /api/approvals/:id`: one approval with its program, the positions of the call in it, and the calls so far.
 * `change` is present if the server has changed the tool's definition since, which is withheld.
 */
export const approvalReviewSchema = z.object({
  approval: approvalSchema,
  execution: z.nullable(z.object({ state: z.string(), startedAt: z.number(), source: z.string() })),
  places: list(place),
  calls: list(z.object(callRecord)),
  change: z.optional(z.object({ server: z.string(), definition: z.string(), seenAt: z.number() })),
});

/** `GET /api/session`. `provider` is the login provider of the person. */
export const sessionSchema = z.object({
  principal: z.string(),
  roles: list(z.string()),
  authenticatedAt: z.number(),
  provider: z.optional(z.string()),
});

/** `GET /api/sessions`: the own ones, for an operator all. `current` is the one of this browser. */
export const sessionsSchema = z.object({
  sessions: list(
    z.object({
      id: z.string(),
      principal: z.string(),
      createdAt: z.number(),
      authenticatedAt: z.number(),
      expiresAt: z.number(),
      origin: z.string(),
    }),
  ),
  current: z.optional(z.string()),
});

/** `POST /api/session/token`: a JWT for `Authorization: Bearer …` at this API, which ends with the session. */
export const tokenSchema = z.object({ token: z.string(), expiresAt: z.number() });

/** In `WWW-Authenticate` of a 401: the session is valid, but a change needs a new login first (RFC 9470). */
export const STEP_UP = "insufficient_user_authentication";

/** `GET /api/login`: how people can log in. Needs no session. */
export const loginSchema = z.object({
  password: z.boolean(),
  providers: list(z.object({ name: z.string(), title: z.string() })),
  /** The address of the page at which passkeys count. */
  passkeyOrigin: z.optional(z.string()),
});

/** `GET /health`: needs no token, like the page; it names no server. Always 200. */
export const healthSchema = z.object({
  status: z.enum(["ok", "degraded"]),
  /** Why it is degraded, and the remedy. */
  cause: z.optional(z.string()),
  hint: z.optional(z.string()),
  version: z.string(),
  engine: z.string(),
  isolation,
  upstreams: z.object({ ready: z.number(), failed: z.number() }),
});

/** `GET /ready`: like `/health`, but 503 until store, sandbox and configuration work. */
export const readySchema = z.object({
  status: z.enum(["ready", "unready"]),
  cause: z.optional(z.string()),
  hint: z.optional(z.string()),
});

/** The body of every error answer, except of `/ready`. */
export const failureSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retry: z.boolean(),
    hint: z.optional(z.string()),
    incident: z.optional(z.string()),
  }),
});

export type UpstreamAnswer = z.infer<typeof upstreamSchema>;
export type StatusAnswer = z.infer<typeof statusSchema>;
export type Topic = (typeof TOPICS)[number];
export type ToolsAnswer = z.infer<typeof toolsSchema>;
export type ApprovalsAnswer = z.infer<typeof approvalsSchema>;
export type ApprovalAnswer = z.infer<typeof approvalAnswerSchema>;
export type ProposedRuleAnswer = z.infer<typeof proposedRuleSchema>;
export type ApprovalReviewAnswer = z.infer<typeof approvalReviewSchema>;
export type SessionAnswer = z.infer<typeof sessionSchema>;
export type SessionsAnswer = z.infer<typeof sessionsSchema>;
export type TokenAnswer = z.infer<typeof tokenSchema>;
export type LoginAnswer = z.infer<typeof loginSchema>;
export type ReadyAnswer = z.infer<typeof readySchema>;
export type HealthAnswer = z.infer<typeof healthSchema>;

/** Approvals in one answer. */
export const MAX_APPROVALS = 200;
