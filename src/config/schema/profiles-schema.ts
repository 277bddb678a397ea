/** Schema of `profiles`: named parts of the tools, to which access tokens are bound. */

import { z } from "zod";

import { optional } from "./fields.ts";
import { toolPatterns } from "./policy-schema.ts";

const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const profileSchema = z.strictObject({
  servers: optional(
    z.array(z.string().min(1).max(256)).min(1),
    "Only tools of these upstreams, by their names in this configuration.",
  ),
  tools: optional(
    toolPatterns,
    'Only these tools: "*", "github.*", "github.createIssue", "github.delete*" or "*.delete*".',
  ),
  effects: optional(
    z.array(z.enum(["read", "write", "destroy", "unknown"])).min(1),
    "Only tools with one of these effects.",
  ),
  executionsPerMinute: optional(
    z.int().min(1).max(1_000_000),
    "At most this many executions in a minute, for each token.",
  ),
});

export const profilesSchema = z
  .record(z.string().regex(PROFILE_NAME), profileSchema)
  .default({})
  .describe("Profiles of access tokens, by name. One with neither servers nor tools allows nothing.");
