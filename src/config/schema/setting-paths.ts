/** Lists every setting of the JSON Schema, so that a test can require a check of each one's effect. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { createConfigSchema } from "./schema.ts";

/**
 * Sorted, for example `sandbox.limits.wallMs`, `policy.rules[].decision`, `mcpServers.*.command`. An array or map of
 * plain values is one setting, even if an entry can also be an object. `$schema` is for editors and not a setting.
 */
export function listSettingPaths(): string[] {
  return toLeaves(createConfigSchema(), "")
    .filter((path) => path !== "$schema")
    .toSorted();
}

function toLeaves(node: JsonObject, path: string): string[] {
  const { properties, additionalProperties, items } = node;
  if (isJsonObject(properties)) {
    const prefix = path === "" ? "" : `${path}.`;
    return Object.entries(properties).flatMap(([key, child]) =>
      isJsonObject(child) ? toLeaves(child, prefix + key) : [],
    );
  }
  if (hasSettings(additionalProperties)) return toLeaves(additionalProperties, `${path}.*`);
  if (hasSettings(items)) return toLeaves(items, `${path}[]`);
  const written = isJsonObject(items) && Array.isArray(items["anyOf"]) ? items["anyOf"].find(hasSettings) : undefined;
  if (written) return [path, ...toLeaves(written, `${path}[]`)];
  return [path];
}

function hasSettings(node: Json | undefined): node is JsonObject {
  return isJsonObject(node) && isJsonObject(node["properties"]);
}
