/** The admin API, in the shapes of the contract: what the gateway does, and the decisions of an operator. */

import { Hono } from "hono";
import * as z from "zod";

import {
  APPROVAL_SCOPES,
  GloveboxError,
  defined,
  parseApprovalId,
  parseExecutionId,
  parseJson,
} from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { ApprovalDesk } from "../../policy/index.ts";
import { ALWAYS_SCOPES } from "../gateway.ts";
import type { Gateway, GatewayCheck } from "../gateway.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { MAX_APPROVALS } from "./contract.ts";
import type { ApprovalAnswer, ApprovalReviewAnswer, ApprovalsAnswer, ProposedRuleAnswer } from "./contract.ts";
import type { HealthAnswer, ReadyAnswer, StatusAnswer, ToolsAnswer } from "./contract.ts";

const USUAL_PAGE = 50;
const TOOLS_PER_PAGE = 20;
/** A decision has a verdict, a scope and a note. */
const BODY_BYTES = 16 * 1024;

const TOOLS_QUERY = z.strictObject({ query: z.string().default(""), cursor: z.string().optional() });
const APPROVALS_QUERY = z.strictObject({
  all: z.enum(["true", "false"]).default("false"),
  execution: z.string().optional(),
  after: z.string().optional(),
  limit: pageSize(MAX_APPROVALS),
});
const RULE_QUERY = z.strictObject({ scope: z.enum(ALWAYS_SCOPES) });
const DECISION = z.strictObject({
  verdict: z.enum(["approve", "reject", "revoke"]),
  scope: z.enum([...APPROVAL_SCOPES, ...ALWAYS_SCOPES]).optional(),
  note: z.string().optional(),
});

/** A query parameter: an integer from 1 to `most`. */
export function pageSize(most: number) {
  return z
    .string()
    .regex(/^\d{1,4}$/, "must be an integer")
    .transform(Number)
    .pipe(z.int().min(1).max(most))
    .default(USUAL_PAGE);
}

/** Mounted under `/api`, after the caller is known. The tools are those that `principal` can use. */
export function createApiRoutes(gateway: Gateway, principal: () => Promise<Principal>): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator", "reviewer"]);
    await next();
  });
  routes.get("/status", (c) => c.json(gateway.health() satisfies StatusAnswer));
  routes.get("/tools", async (c) => {
    const query = parseRequest(TOOLS_QUERY, c.req.query(), "query");
    const { tools, cursor } = await gateway.search(await principal(), { limit: TOOLS_PER_PAGE, ...defined(query) });
    return c.json({ tools, ...defined({ cursor }) } satisfies ToolsAnswer);
  });
  return routes;
}

/** Public on this machine, so it contains no names of upstreams. */
export function toHealth(gateway: Gateway, { problems }: GatewayCheck): HealthAnswer {
  const { version, engine, isolation, upstreams } = gateway.health();
  const count = (state: string): number => upstreams.filter((upstream) => upstream.state === state).length;
  const failed = count("failed") + count("needs-login") + count("suspended");
  const status = problems.length === 0 ? "ok" : "degraded";
  return { status, ...join(problems), version, engine, isolation, upstreams: { ready: count("ready"), failed } };
}

export function toReadiness({ isReady, problems }: GatewayCheck): ReadyAnswer {
  if (isReady) return { status: "ready" };
  return { status: "unready", ...(problems.length === 0 ? { cause: "The sandbox is starting" } : join(problems)) };
}

function join(problems: GatewayCheck["problems"]): { readonly cause?: string; readonly hint?: string } {
  if (problems.length === 0) return {};
  const hints = problems.flatMap(({ hint }) => hint ?? []);
  const cause = problems.map(({ message }) => message).join("; ");
  return { cause, ...(hints.length > 0 && { hint: hints.join("; ") }) };
}

/** Mounted under `/api/approvals`, after the caller is known. A service can only read, and the desk refuses all else. */
export function createApprovalRoutes(desk: ApprovalDesk): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator", "reviewer"], c.req.method === "GET" ? "approvals:read" : undefined);
    await next();
  });
  routes.get("/", async (c) => {
    const { all, execution, after, limit } = parseRequest(APPROVALS_QUERY, c.req.query(), "query");
    const query = {
      limit,
      isPending: all === "false" ? true : undefined,
      execution: parseId(parseExecutionId, execution),
      after: parseId(parseApprovalId, after),
    };
    return c.json({ approvals: await desk.list(defined(query), c.get("caller").principal) } satisfies ApprovalsAnswer);
  });
  routes.get("/:id", async (c) => {
    const review = await desk.show(c.req.param("id"), c.get("caller").principal);
    return c.json(review satisfies ApprovalReviewAnswer);
  });
  // The rule that a decision for good would write: a person sees it first.
  routes.get("/:id/rule", async (c) => {
    const { scope } = parseRequest(RULE_QUERY, c.req.query(), "query");
    return c.json(
      (await desk.propose(c.req.param("id"), scope, c.get("caller").principal)) satisfies ProposedRuleAnswer,
    );
  });
  routes.post("/:id", async (c) => {
    const { verdict, ...choice } = parseRequest(DECISION, await readBody(c.req.raw), "body");
    const id = c.req.param("id");
    const { principal } = c.get("caller");
    const approval =
      verdict === "revoke"
        ? await desk.revoke(id, principal)
        : await desk.decide(id, { verdict, ...defined(choice) }, principal);
    return c.json({ approval } satisfies ApprovalAnswer);
  });
  return routes;
}

/** Throws `REQUEST_INVALID` with every problem. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  part: "query" | "body",
): z.output<Schema> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
  throw new GloveboxError("REQUEST_INVALID", `Wrong ${part}: ${problems}`, {
    hint: "The contract of the admin API lists the parameters of each address",
  });
}

/** Counts while it reads, because a body may have no length header. */
export async function readBody(request: Request, maxBytes = BODY_BYTES): Promise<unknown> {
  const raw = parseJson(await readText(request, maxBytes));
  if (raw !== undefined) return raw;
  throw new GloveboxError("REQUEST_INVALID", "The body is not JSON", { hint: 'Send { "verdict": "approve" }' });
}

/** Throws `LIMIT_SIZE`. */
export async function readText({ body }: Request, maxBytes = BODY_BYTES): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new GloveboxError("LIMIT_SIZE", `The body has at most ${maxBytes} bytes`, {
        hint: "Send less",
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function parseId<Id>(parse: (raw: unknown) => Id | undefined, raw: string | undefined): Id | undefined {
  const id = parse(raw);
  if (id !== undefined || raw === undefined) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw)} is not a valid id`, {
    hint: "Use an id from the list",
  });
}
