/** Resolves `$ref` inside its document. Nothing is fetched: a reference to another document is unknown. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";

const MAX_STEPS = 32;
/** Parts of a document that are searched for anchors. */
const MAX_PARTS = 10_000;
const ANCHOR_KEYWORDS = ["$anchor", "$dynamicAnchor"] as const;
/** Before 2019 an anchor was an `$id` that starts with `#`. */
const ID_KEYWORDS = ["$id", "id"] as const;

const anchors = new WeakMap<JsonSchema, ReadonlyMap<string, Json>>();

/** Returns the reference of a schema, under its name in any draft. */
export function refOf(schema: JsonObject): string | undefined {
  const ref = schema["$ref"] ?? schema["$dynamicRef"] ?? schema["$recursiveRef"];
  return typeof ref === "string" ? ref : undefined;
}

/** Returns the schema that a JSON Pointer (RFC 6901) of the form `#/…` or an anchor names, or `undefined`. */
export function resolveRef(root: JsonSchema, ref: string): Json | undefined {
  const own = toFragment(root, ref);
  if (own === "#" || own === "#/") return root;
  if (!own.startsWith("#")) return undefined;
  if (!own.startsWith("#/")) return findAnchors(root).get(own.slice(1));
  const steps = own.slice(2).split("/", MAX_STEPS + 1);
  if (steps.length > MAX_STEPS) return undefined;
  let found: Json | undefined = root;
  for (const step of steps) {
    const key = toKeyStep(step);
    found = key === undefined || found === undefined ? undefined : stepInto(found, key);
  }
  return found;
}

/** True if some reference cannot be resolved, so values cannot be checked against the schema. */
export function hasDeadRef(root: JsonSchema): boolean {
  const open: Json[] = [root];
  for (let left = MAX_PARTS, part = open.pop(); part !== undefined && left > 0; left -= 1, part = open.pop()) {
    if (typeof part !== "object" || part === null) continue;
    const ref = isJsonObject(part) ? refOf(part) : undefined;
    if (ref !== undefined && resolveRef(root, ref) === undefined) return true;
    open.push(...Object.values(part).slice(0, MAX_PARTS));
  }
  return false;
}

/** Turns a reference to the document's `$id` into a local one. */
function toFragment(root: JsonSchema, ref: string): string {
  const id = root["$id"] ?? root["id"];
  if (typeof id !== "string" || id === "") return ref;
  const address = id.replace(/#$/, "");
  if (ref === address) return "#";
  return ref.startsWith(`${address}#`) ? ref.slice(address.length) : ref;
}

function findAnchors(root: JsonSchema): ReadonlyMap<string, Json> {
  const known = anchors.get(root);
  if (known) return known;
  const found = new Map<string, Json>();
  const open: Json[] = [root];
  for (let left = MAX_PARTS, part = open.pop(); part !== undefined && left > 0; left -= 1, part = open.pop()) {
    if (typeof part !== "object" || part === null) continue;
    if (isJsonObject(part)) for (const name of anchorsOf(part)) if (!found.has(name)) found.set(name, part);
    for (const child of Object.values(part).slice(0, MAX_PARTS)) open.push(child);
  }
  anchors.set(root, found);
  return found;
}

function anchorsOf(part: JsonObject): readonly string[] {
  const named = ANCHOR_KEYWORDS.map((keyword) => part[keyword]).filter((name) => typeof name === "string");
  const ids = ID_KEYWORDS.map((keyword) => part[keyword]).filter((id) => typeof id === "string");
  return [...named, ...ids.filter((id) => /^#[^/]/.test(id)).map((id) => id.slice(1))];
}

function stepInto(value: Json, key: string): Json | undefined {
  if (Array.isArray(value)) return /^\d{1,6}$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function toKeyStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
