/** Resolves `$ref` inside its document. Nothing is fetched: a reference to another document is unknown. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";

const MAX_STEPS = 32;
/** Parts of a document that are searched for anchors. */
const MAX_PARTS = 10_000;

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
  return partsOf(root).some((part) => {
    const ref = refOf(part);
    return ref !== undefined && resolveRef(root, ref) === undefined;
  });
}

/** Yields the objects of a document, up to a bound on all of its parts. */
function* partsOf(root: JsonSchema): Generator<JsonObject, undefined> {
  const open: Json[] = [root];
  for (let left = MAX_PARTS, part = open.pop(); part !== undefined && left > 0; left -= 1, part = open.pop()) {
    if (typeof part !== "object" || part === null) continue;
    if (isJsonObject(part)) yield part;
    for (const child of Object.values(part).slice(0, MAX_PARTS)) open.push(child);
  }
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
  for (const part of partsOf(root)) for (const name of anchorsOf(part)) if (!found.has(name)) found.set(name, part);
  anchors.set(root, found);
  return found;
}

/** Before 2019 an anchor was an `$id` that starts with `#`. */
function anchorsOf({ $anchor, $dynamicAnchor, $id, id }: JsonObject): readonly string[] {
  const named = [$anchor, $dynamicAnchor].filter((name) => typeof name === "string");
  const ids = [$id, id].filter((own) => typeof own === "string").filter((own) => /^#[^/]/.test(own));
  return [...named, ...ids.map((own) => own.slice(1))];
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
