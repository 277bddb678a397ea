/** The front door of `config`: from a configuration file to one checked, deeply frozen settings object. */

export { defineConfig } from "./define-config.ts";
export type { GloveboxConfig } from "./define-config.ts";
export type { Environment } from "./expand-references.ts";
export { findConfig } from "./find-config.ts";
export type { ConfigSearch } from "./find-config.ts";
export { followRules, parseRules } from "./follow-rules.ts";
export { loadSettings } from "./load-settings.ts";
export { parseNetworkPolicy } from "./network-schema.ts";
export type { WrittenNetworkPolicy } from "./network-schema.ts";
export { parseLimits } from "./parse-limits.ts";
export { parseSettings } from "./parse-settings.ts";
export type { ConfigSource } from "./parse-settings.ts";
export { readTextFile } from "./read-text-file.ts";
export { createConfigSchema } from "./schema.ts";
export type { RuleSeverity, Settings, SettingsOrigin } from "./settings.ts";
export { builtinSettings } from "./to-settings.ts";
