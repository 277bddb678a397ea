/** Schema of `journal`: how much of the deliveries to programs is kept, and how long. */

import { z } from "zod";

import { DAY_MS } from "../../timing/index.ts";
import { integer } from "./fields.ts";

const MIB = 1024 * 1024;

export const journalSchema = z
  .strictObject({
    keepMs: integer(
      { min: 0, max: 365 * DAY_MS, usual: 7 * DAY_MS },
      "How long an execution can be replayed after it ended.",
    ),
    totalBytes: integer(
      { min: 1, max: 65_536 * MIB, usual: 1024 * MIB },
      "Total size of the journals of ended executions; the oldest are deleted first.",
    ),
    executionBytes: integer(
      { min: 1, max: 4096 * MIB, usual: 64 * MIB },
      "Size of the journal of one execution; above it, the execution can be neither suspended nor replayed.",
    ),
  })
  .prefault({})
  .meta({
    description:
      "Encrypted deliveries to programs, used to resume executions after a suspension or crash and to replay them.",
  });
