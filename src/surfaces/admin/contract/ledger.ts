/** The ledger: its records, and whether it is intact. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/**
 * `GET /api/ledger?limit=&before=&actor=&action=&subject=&outcome=&execution=&since=&until=`: the newest records below
 * `before` that match. `action=call` stands for all actions about calls.
 */
export const ledgerSchema = z.object({
  records: list(
    z.object({
      seq: z.number(),
      at: z.number(),
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      detail: z.record(z.string(), z.unknown()),
      /** Of the record before it, and of the record itself. */
      previous: z.string(),
      digest: z.string(),
    }),
  ),
});

const verdict = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    records: z.number(),
    /** The first one, if earlier records were dropped on purpose. */
    first: z.optional(z.number()),
    /** The last one that a signature covers. */
    signed: z.optional(z.number()),
    key: z.optional(z.string()),
  }),
  z.object({ ok: z.literal(false), seq: z.number(), problem: z.string() }),
]);

/**
 * `GET /api/ledger/proof`, and `POST` to start a verification unless one is running. `last` is the latest one since the
 * gateway started.
 */
export const proofSchema = z.object({
  running: z.optional(z.object({ checked: z.number(), of: z.number() })),
  last: z.optional(z.object({ verdict, at: z.number(), by: z.string() })),
  /** Why the latest verification could not be finished. */
  failure: z.optional(z.string()),
});

/** `GET /api/ledger/export`: JSON Lines with a signed trailer, which `glovebox audit verify FILE` checks. */

export type LedgerAnswer = z.infer<typeof ledgerSchema>;
export type ProofAnswer = z.infer<typeof proofSchema>;
