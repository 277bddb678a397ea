/** The types of the configuration as text, from its JSON Schema: a user of the package does not install the schema library. */

import { createConfigSchema } from "../src/config/index.ts";
import { isJsonObject } from "../src/domain/index.ts";
import type { Json, JsonObject } from "../src/domain/index.ts";

export interface WrittenType {
  readonly text: string;
  /** Import statements for types of Node. */
  readonly builtins?: ReadonlySet<string>;
  /** Declarations that the text names. */
  readonly needs: readonly { readonly from: string; readonly name: string }[];
}

const NEEDS = [
  { from: "domain/adapter.d.ts", name: "Adapter" },
  { from: "domain/json.d.ts", name: "Json" },
];

/** By the name of the type. */
export function describeConfigTypes(): ReadonlyMap<string, WrittenType> {
  const schema = createConfigSchema();
  const policy = childOf(childOf(schema, "sandbox"), "networkPolicy");
  const config = `/** A configuration before it is checked: the content of the file, or the argument of the library. */\ninterface GloveboxConfig ${toType(schema, "", "")}`;
  return new Map([
    ["GloveboxConfig", { text: config, needs: NEEDS }],
    [
      "WrittenNetworkPolicy",
      { text: `type WrittenNetworkPolicy = ${toType(policy, "networkPolicy", "")};`, needs: [] },
    ],
  ]);
}

function childOf({ properties }: JsonObject, key: string): JsonObject {
  const child = isJsonObject(properties) ? properties[key] : undefined;
  if (isJsonObject(child)) return child;
  throw new TypeError(`The schema of the configuration has no ${key}`);
}

/** `path` is the setting, and `indent` that of the line in front. */
function toType(schema: Json | undefined, path: string, indent: string): string {
  if (!isJsonObject(schema)) return "unknown";
  if (path === "adapters.module") return "string | Adapter";
  const { anyOf, oneOf, allOf, enum: choices, const: only, type, items } = schema;
  // Only JSON refers to itself.
  if (schema["$ref"] !== undefined) return "Json";
  if (Array.isArray(allOf) && allOf.length === 1) return toType(allOf[0], path, indent);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return choices.map((one) => JSON.stringify(one)).join(" | ");
  if (type === "object") return toObject(schema, path, indent);
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return [...new Set(either.map((one) => toType(one, path, indent)))].join(" | ");
  if (type === "array") {
    const item = toType(items, path, indent);
    return path === "adapters" ? `readonly (${item} | Adapter)[]` : `readonly (${item})[]`;
  }
  if (type === "integer") return "number";
  if (typeof type === "string") return type;
  throw new TypeError(`The type of ${path} is not supported: ${JSON.stringify(schema).slice(0, 200)}`);
}

function toObject(schema: JsonObject, path: string, indent: string): string {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const inner = `${indent}  `;
  const lines = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, property]) => {
    const mark = Array.isArray(required) && required.includes(key) ? "" : "?";
    const text = isJsonObject(property) && typeof property["description"] === "string" ? property["description"] : "";
    const comment = text === "" ? [] : [`${inner}/** ${text.replaceAll("*/", "*\\/")} */`];
    const type = toType(property, path === "" ? key : `${path}.${key}`, inner);
    return [...comment, `${inner}readonly ${JSON.stringify(key)}${mark}: ${type}${mark === "" ? "" : " | undefined"};`];
  });
  if (isJsonObject(additionalProperties)) {
    lines.push(`${inner}readonly [name: string]: ${toType(additionalProperties, `${path}.*`, inner)};`);
  }
  return lines.length === 0 ? "Record<string, unknown>" : `{\n${lines.join("\n")}\n${indent}}`;
}
