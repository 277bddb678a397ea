/**
 * Copies whatever was given as a configuration into plain JSON before anything is checked: a getter could
 * answer differently the second time, and only own, named keys count.
 */

import type { Json } from "../../domain/index.ts";
import type { KeyPath, Problems } from "../problems.ts";

/** Far above what the schema can hold; ends cycles and hostile nesting. */
export const MAX_CONFIG_DEPTH = 32;

/** A deep copy; what is not JSON is reported and left out. A key without a value counts as not given. */
export function copyConfig(raw: unknown, problems: Problems): Json {
  return copyAt(raw, [], problems) ?? null;
}

function copyAt(raw: unknown, path: KeyPath, problems: Problems): Json | undefined {
  if (raw === null || typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean") return raw;
  if (path.length > MAX_CONFIG_DEPTH) return refuse(`nested deeper than ${MAX_CONFIG_DEPTH} levels`, path, problems);
  if (Array.isArray(raw)) return Array.from(raw, (item: unknown, index) => copyItem(item, [...path, index], problems));
  if (isPlainObject(raw)) return copyObject(raw, path, problems);
  return refuse(`expected a plain value, found ${describeKind(raw)}`, path, problems);
}

function copyItem(raw: unknown, path: KeyPath, problems: Problems): Json {
  return copyAt(raw, path, problems) ?? null;
}

function copyObject(raw: object, path: KeyPath, problems: Problems): Json {
  const entries: [string, Json][] = [];
  for (const [key, child] of Object.entries(raw)) {
    if (child === undefined) continue;
    if (key === "__proto__") {
      problems.report({ path: [...path, key], anchor: "key", message: "this name cannot be used; choose another" });
      continue;
    }
    const copy = copyAt(child, [...path, key], problems);
    if (copy !== undefined) entries.push([key, copy]);
  }
  return Object.fromEntries(entries);
}

function isPlainObject(raw: unknown): raw is object {
  if (typeof raw !== "object" || raw === null) return false;
  const prototype: unknown = Object.getPrototypeOf(raw);
  return prototype === null || prototype === Object.prototype;
}

/** "a function", "a Promise": for values that only a program can hand in. */
function describeKind(raw: unknown): string {
  if (typeof raw !== "object" || raw === null) return raw === undefined ? "nothing" : `a ${typeof raw}`;
  const kind = Object.prototype.toString.call(raw).slice("[object ".length, -1);
  return kind === "Object" ? "an instance of a class" : `a ${kind}`;
}

function refuse(message: string, path: KeyPath, problems: Problems): undefined {
  problems.report({ path, anchor: "value", message });
}
