/** The interface of `config`: turns a configuration file into one checked, deeply frozen settings object. */

export { checkUnrestricted } from "./check-unrestricted.ts";
export { createConfigs } from "./create-configs.ts";
export { describeConfig } from "./describe-config.ts";
export { parseRules } from "./follow-rules.ts";
export { loadSettings } from "./load-settings.ts";
export type { ConfigText } from "./load-settings.ts";
export { createOwnMask, createReachCheck, findStoreFiles } from "./named-paths.ts";
export { parseNetworkPolicy } from "./schema/network-schema.ts";
export type { WrittenNetworkPolicy } from "./schema/network-schema.ts";
export { parseLimits } from "./schema/sandbox-schema.ts";
export { parseSettings } from "./parse-settings.ts";
export { readTextFile } from "./read/read-text-file.ts";
export { createConfigSchema, defineConfig } from "./schema/schema.ts";
export type { GloveboxConfig } from "./schema/schema.ts";
export type { Settings } from "./settings.ts";
export { followRuleFiles, openRuleBook } from "./rule-book.ts";
