/** The ledger over the admin API: search, proof and export. For operators, and for services with `ledger:read`. */

import { setImmediate } from "node:timers/promises";

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, isJsonObject, parseExecutionId } from "../../domain/index.ts";
import type { HttpDoor } from "../gateway.ts";
import { noStore } from "../operator-records.ts";
import { pageSize, parseId, parseRequest } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { LedgerAnswer, ProofAnswer } from "./contract/ledger.ts";
import { createLedgerProof } from "./ledger-proof.ts";

/** Records in one answer. */
const MAX_RECORDS = 200;
const MAX_CHARS = 300;
/** Lines of an export that are written at once. */
const LINES = 500;

const text = z.string().min(1).max(MAX_CHARS).optional();
const time = z.coerce.number().int().min(0).optional();
const QUERY = z.strictObject({
  limit: pageSize(MAX_RECORDS),
  before: z.coerce.number().int().min(1).optional(),
  actor: text,
  action: text,
  subject: text,
  outcome: text,
  execution: text,
  since: time,
  until: time,
});

interface LedgerDoor extends Pick<HttpDoor, "gateway" | "operator" | "report"> {
  readonly now: () => number;
}

/** Mounted under `/api/ledger`, after the caller is known. */
export function createLedgerRoutes({ gateway, operator, report, now }: LedgerDoor): Hono<AppEnv> {
  const { readRecords = noStore, settings } = operator;
  const proof = createLedgerProof({ readRecords, now, report });
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"], "ledger:read");
    await next();
  });
  routes.get("/", async (c) => {
    const { execution, ...query } = parseRequest(QUERY, c.req.query(), "query");
    const wanted = { ...query, execution: parseId(parseExecutionId, execution) };
    const records = await gateway.records({ ...defined(wanted), limit: query.limit });
    const isWhole = gateway.approvals.showsArguments(c.get("caller").principal);
    return c.json({ records: isWhole ? records : records.map(hidePreview) } satisfies LedgerAnswer);
  });
  routes.get("/proof", (c) => c.json(proof.state() satisfies ProofAnswer));
  routes.post("/proof", (c) => c.json(proof.start(c.get("caller").principal.id) satisfies ProofAnswer));
  routes.get("/export", async (c) => {
    if (settings.audit.previews && !gateway.approvals.showsArguments(c.get("caller").principal))
      throw new GloveboxError("REQUEST_FORBIDDEN", "The records contain arguments, which only reviewers see", {
        hint: "A reviewer can export them",
      });
    const reader = (await readRecords()).openReader();
    return c.body(toStream(reader.export()), 200, {
      "content-type": "application/jsonl",
      "content-disposition": `attachment; filename="glovebox-ledger-${await reader.last()}.jsonl"`,
    });
  });
  return routes;
}

/** The beginning of arguments and results, where `audit.previews` keeps it. */
function hidePreview(record: LedgerAnswer["records"][number]): LedgerAnswer["records"][number] {
  if (!isJsonObject(record.detail)) return record;
  const { preview: _, ...detail } = record.detail;
  return { ...record, detail };
}

/** Ends early, and without its trailer, when the browser stops reading. */
function toStream(lines: AsyncGenerator<string, unknown>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const batch: string[] = [];
      let step = await lines.next();
      for (; step.done !== true; step = await lines.next()) {
        batch.push(`${step.value}\n`);
        if (batch.length === LINES) break;
      }
      if (batch.length > 0) controller.enqueue(encoder.encode(batch.join("")));
      if (step.done === true) controller.close();
      await setImmediate();
    },
    cancel: () => lines.return(undefined).then(() => undefined),
  });
}
