/** Follows `$ref` inside its own document. Nothing is ever fetched: a reference elsewhere is simply not known. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonSchema } from "../domain/index.ts";

const MAX_STEPS = 32;

/** The schema that a JSON Pointer (RFC 6901) of the form `#/…` names, or `undefined`. */
export function resolveRef(root: JsonSchema, ref: string): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  const steps = ref.slice(2).split("/", MAX_STEPS + 1);
  if (steps.length > MAX_STEPS) return undefined;
  let found: Json | undefined = root;
  for (const step of steps) {
    const key = toKeyStep(step);
    found = key === undefined || found === undefined ? undefined : stepInto(found, key);
  }
  return found;
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
