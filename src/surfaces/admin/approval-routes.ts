/** The admin API for approvals: an operator, authenticated by the token, decides waiting calls. */

import { Hono } from "hono";
import * as z from "zod";

import { APPROVAL_SCOPES, GloveboxError, parseApprovalId, parseExecutionId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { ApprovalDesk } from "../../policy/index.ts";
import { MAX_APPROVALS } from "./contract.ts";
import type { ApprovalAnswer, ApprovalReviewAnswer, ApprovalsAnswer } from "./contract.ts";
import { parseRequest, wholeNumber } from "./parse-request.ts";

const USUAL_PAGE = 50;
/** A decision has a verdict, a scope and a note. */
const BODY_BYTES = 16 * 1024;

const QUERY = z.strictObject({
  all: z.enum(["true", "false"]).default("false"),
  execution: z.string().optional(),
  after: z.string().optional(),
  limit: wholeNumber({ most: MAX_APPROVALS, usual: USUAL_PAGE }),
});
const DECISION = z.strictObject({
  verdict: z.enum(["approve", "reject", "revoke"]),
  scope: z.enum(APPROVAL_SCOPES).optional(),
  note: z.string().optional(),
});

/** Mounted under `/api/approvals`, after the token check. `operator` is the principal of the token. */
export function createApprovalRoutes(desk: ApprovalDesk, operator: Principal): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => {
    const { all, execution, after, limit } = parseRequest(QUERY, c.req.query(), "query");
    const query = {
      limit,
      ...(all === "false" && { isPending: true }),
      ...(execution !== undefined && { execution: parseId(parseExecutionId, execution) }),
      ...(after !== undefined && { after: parseId(parseApprovalId, after) }),
    };
    return c.json({ approvals: await desk.list(query) } satisfies ApprovalsAnswer);
  });
  routes.get("/:id", async (c) => c.json((await desk.show(c.req.param("id"))) satisfies ApprovalReviewAnswer));
  routes.post("/:id", async (c) => {
    const { verdict, scope, note } = parseRequest(DECISION, await readBody(c.req.raw), "body");
    const id = c.req.param("id");
    const said = { ...(scope && { scope }), ...(note !== undefined && { note }) };
    const approval =
      verdict === "revoke" ? await desk.revoke(id, operator) : await desk.decide(id, { verdict, ...said }, operator);
    return c.json({ approval } satisfies ApprovalAnswer);
  });
  return routes;
}

/** Counts while it reads, because a body may have no length header. */
async function readBody({ body }: Request): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) throw tooLong();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", "The body is not JSON", {
      cause,
      hint: 'Send { "verdict": "approve" }',
    });
  }
}

function tooLong(): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `A decision has at most ${BODY_BYTES} bytes`, {
    hint: "Write a shorter note",
  });
}

function parseId<Id>(parse: (raw: unknown) => Id | undefined, raw: string): Id {
  const id = parse(raw);
  if (id !== undefined) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw)} is not a valid id`, {
    hint: "Use an id from the list",
  });
}
