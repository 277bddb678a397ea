/** Skills: their versions, what a reviewer sees of one, and decisions. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { callPlan, effect, finding, list } from "./base.ts";

const state = z.enum(["draft", "pending_review", "approved", "rejected", "revoked", "retired"]);

const listed = {
  name: z.string(),
  version: z.number(),
  state,
  digest: z.string(),
  /** Who drafted or submitted it. */
  author: z.string(),
  createdAt: z.number(),
  /** Why an approved version cannot be called. */
  frozen: z.optional(z.string()),
  /** The newest earlier version that was approved: `rollback` submits it for review. Only of a frozen one. */
  nearest: z.optional(z.number()),
};

/** The answer to every decision: the version as it is now. */
export const skillSchema = z.object(listed);

/** `GET /api/skills`: all versions by name, of each skill the newest first. */
export const skillsSchema = z.object({ skills: list(z.object({ ...listed, summary: z.optional(z.string()) })) });

/** One power that a version asks for. `id` names it in a decision. */
const grant = z.object({
  id: z.string(),
  /** Hosts and secrets go beyond what the caller of the skill may do. */
  kind: z.enum(["tool", "host", "secret"]),
  name: z.string(),
  reason: z.string(),
  /** The tool that is meant: another one with this name later is not granted. Absent once it was refused. */
  pin: z.optional(
    z.object({
      address: z.string(),
      connector: z.string(),
      remoteName: z.string(),
      definition: z.string(),
      effect,
    }),
  ),
  decision: z.enum(["open", "granted", "refused"]),
  /** Against the last approved version. */
  change: z.enum(["new", "same", "changed"]),
});

const lines = list(z.string());

/** Lines begin with `- `, `+ ` or two spaces. Parts that did not change are absent. */
const changes = z.object({
  /** The version that is compared; absent for a first one, whose files are all `added`. */
  since: z.optional(z.number()),
  description: z.optional(lines),
  input: z.optional(lines),
  output: z.optional(lines),
  removedGrants: list(z.string()),
  files: list(z.object({ path: z.string(), kind: z.enum(["added", "changed", "removed", "same"]), lines })),
});

/**
 * `GET /api/skills/:name?version=`: everything that decides about a version, by default the newest. Tests are replayed
 * for it. Text is not cleaned: show it with hidden characters written out.
 */
export const skillReviewSchema = z.object({
  ...listed,
  address: z.string(),
  /** `kind`: `folder`, `export`, `rollback`, or where a draft came from. */
  origin: z.record(z.string(), z.unknown()),
  description: z.string(),
  license: z.optional(z.string()),
  metadata: z.record(z.string(), z.string()),
  input: z.record(z.string(), z.unknown()),
  output: z.nullable(z.record(z.string(), z.unknown())),
  /** Text by path. */
  files: z.record(z.string(), z.string()),
  grants: list(grant),
  tests: list(
    z.object({
      file: z.string(),
      calls: z.number(),
      /** On each engine; without a problem it passes. */
      runs: list(z.object({ engine: z.string(), problem: z.optional(z.string()) })),
    }),
  ),
  changes,
  similar: list(z.object({ name: z.string(), description: z.string(), why: z.string() })),
  findings: list(finding),
  plan: callPlan,
  approval: z.optional(z.object({ reviewer: z.string(), at: z.number(), selfReviewed: z.boolean(), key: z.string() })),
  decidedBy: z.optional(z.string()),
  note: z.optional(z.string()),
  /** Absent if this person may approve it; otherwise why not. */
  refusal: z.optional(z.string()),
});

/**
 * What a person decides, and the answer is `skillSchema`. `version` and `digest` are those that the person saw: another
 * digest is refused with REQUEST_CONFLICT or REQUEST_NOT_FOUND, and so is a version that was decided about.
 *
 * | Request | Body |
 * | --- | --- |
 * | `POST /api/skills` | `{ "files": { "SKILL.md": "…", "skill.ts": "…", "tests/one.json": "…" } }` |
 * | `POST /api/skills/:name/approve` | `{ "version", "digest", "grants": { "tool:shop.list": true }, "note"? }`, each grant decided |
 * | `POST /api/skills/:name/reject` | `{ "version", "digest", "reason" }` |
 * | `POST /api/skills/:name/revoke`, `…/retire` | `{ "version", "digest", "reason"? }` |
 * | `POST /api/skills/:name/rollback` | `{ "version" }`: submits that earlier version again, for review |
 * | `POST /api/skills/:name/thaw`, `…/restore` | `{}`: of the approved version |
 */
export type SkillAnswer = z.infer<typeof skillSchema>;
export type SkillsAnswer = z.infer<typeof skillsSchema>;
export type SkillReviewAnswer = z.infer<typeof skillReviewSchema>;
