/** How long what entered programs is kept, and how much of it. */

import { z } from "zod";

import { whole } from "./fields.ts";

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

export const journalSchema = z
  .strictObject({
    keepMs: whole(
      { min: 0, max: 365 * DAY_MS, usual: 7 * DAY_MS },
      "How long an execution can be shown again after it ended.",
    ),
    totalBytes: whole(
      { min: 1, max: 65_536 * MIB, usual: 1024 * MIB },
      "All journals of ended executions together; the oldest make room.",
    ),
    executionBytes: whole(
      { min: 1, max: 4096 * MIB, usual: 64 * MIB },
      "The journal of one execution; one that is given more can neither be put away nor shown again.",
    ),
  })
  .prefault({})
  .meta({ description: "What entered programs, sealed: with it executions go on after a pause or a crash." });
