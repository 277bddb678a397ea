/** Parses the result of an execution as the store keeps it. */

import { z } from "zod";

import { GloveboxError } from "../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../domain/index.ts";

import { CALL_RECORD } from "./journal-schema.ts";

const RESULT = z.object({
  execution: z.string(),
  state: z.enum(["completed", "failed", "paused", "cancelled"]),
  logs: z.array(z.object({ level: z.string(), text: z.string(), atMs: z.number() })),
  calls: z.array(CALL_RECORD),
  findings: z.array(z.object({ rule: z.string(), message: z.string() })),
  stats: z.record(z.string(), z.number()),
  error: z.object({ code: z.string(), message: z.string(), retry: z.boolean() }).optional(),
  approvals: z.array(z.string()).optional(),
});

/** Throws `STORE_UNAVAILABLE` for a result that this version cannot read. */
export function parseStoredResult(id: ExecutionId, text: string): ExecutionResult {
  const raw: unknown = parseJson(text);
  if (RESULT.safeParse(raw).success) return raw as ExecutionResult;
  throw new GloveboxError("STORE_UNAVAILABLE", `The stored result of ${id} is damaged or from a newer version`, {
    hint: "Run `glovebox audit verify` to check the ledger",
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
