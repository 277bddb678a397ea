/** Follows `$ref` inside one document. Never reads anything outside of the document. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

/** A longer chain of references is treated as circular. */
const MAX_CHAIN = 20;

/** Finds what a `$ref` names. */
export interface References {
  /** The value at a pointer of this document such as `#/components/schemas/Pet`; `undefined` for anything else. */
  find(pointer: string): Json | undefined;
  /** The object itself, or what its `$ref` finally leads to; `undefined` if that is not an object of this document. */
  resolve(value: Json | undefined): JsonObject | undefined;
}

/** Reads own keys only: a pointer may contain `constructor`. */
export function createReferences(root: JsonObject): References {
  /** Caches targets: a large document refers to the same few a hundred thousand times. */
  const known = new Map<string, Json | undefined>();

  function find(pointer: string): Json | undefined {
    if (!pointer.startsWith("#/")) return undefined;
    if (!known.has(pointer)) known.set(pointer, pointer.slice(2).split("/").reduce<Json | undefined>(step, root));
    return known.get(pointer);
  }

  function resolve(value: Json | undefined): JsonObject | undefined {
    let found = value;
    for (let hops = 0; hops < MAX_CHAIN; hops += 1) {
      if (!isJsonObject(found)) return undefined;
      const { $ref } = found;
      if (typeof $ref !== "string") return found;
      found = find($ref);
    }
    return undefined;
  }

  return { find, resolve };
}

function step(value: Json | undefined, rawSegment: string): Json | undefined {
  const segment = decodeSegment(rawSegment);
  if (Array.isArray(value)) return /^\d{1,6}$/.test(segment) ? value[Number(segment)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

/** RFC 6901 §6: percent-encoding first, then `~1` and `~0`. */
export function decodeSegment(segment: string): string {
  return decodePercent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The object, or an empty one for anything else: a malformed part counts as missing. */
export function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The array, or an empty one for anything else. */
export function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
