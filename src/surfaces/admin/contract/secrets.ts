/** Secrets: everything but their values. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/** `GET /api/secrets`, by name; also those that the settings refer to and that are not set. */
export const secretsSchema = z.object({
  secrets: list(
    z.object({
      name: z.string(),
      /** Counts how often it was set; absent for one that is not set. */
      version: z.optional(z.number()),
      setAt: z.optional(z.number()),
      /** The settings that refer to it. */
      usedBy: list(z.string()),
      /** Where programs may send it, as `sandbox.secrets` says. */
      boundTo: z.optional(
        z.object({ hosts: list(z.string()), places: list(z.string()), principals: list(z.string()) }),
      ),
      lastUse: z.optional(z.object({ at: z.number(), by: z.string(), purpose: z.optional(z.string()) })),
    }),
  ),
  /** Where hosts are bound: the file of the configuration, if there is one. */
  file: z.optional(z.string()),
});

/**
 * `PUT /api/secrets/:name` with `{ "value", "version" }`, and `DELETE /api/secrets/:name?version=`. `version` is the one
 * that the person saw, 0 for a secret that is not set; after another change the answer is `REQUEST_CONFLICT`.
 */
export const secretChangedSchema = z.object({ name: z.string(), version: z.number() });

export type SecretsAnswer = z.infer<typeof secretsSchema>;
export type SecretChangedAnswer = z.infer<typeof secretChangedSchema>;
