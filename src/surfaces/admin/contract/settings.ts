/** The settings, read-only. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/** `GET /api/settings`, by key. Values are JSON; what could be a credential is `"(set)"`. */
export const settingsSchema = z.object({
  settings: list(z.object({ key: z.string(), value: z.string(), source: z.enum(["default", "configuration"]) })),
  /** The file of the configuration, if there is one. */
  file: z.optional(z.string()),
});

export type SettingsAnswer = z.infer<typeof settingsSchema>;
