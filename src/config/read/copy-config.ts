/** Copies a configuration into plain JSON before it is checked: a getter could return another value the second time. */

import type { Json } from "../../domain/index.ts";
import type { KeyPath, Problems } from "../problems.ts";

/** Far above what the schema allows; stops cycles and hostile nesting. */
export const MAX_CONFIG_DEPTH = 32;

/** Returns a deep copy. Reports and omits values that are not JSON; a key with the value `undefined` counts as absent. */
export function copyConfig(raw: unknown, problems: Problems): Json {
  return copyAt(raw, [], problems) ?? null;
}

function copyAt(raw: unknown, path: KeyPath, problems: Problems): Json | undefined {
  if (raw === null || typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean") return raw;
  const isTooDeep = path.length > MAX_CONFIG_DEPTH;
  if (!isTooDeep && Array.isArray(raw))
    return Array.from(raw, (item: unknown, index) => copyAt(item, [...path, index], problems) ?? null);
  if (!isTooDeep && isPlainObject(raw)) return copyObject(raw, path, problems);
  const nested = `nested deeper than ${MAX_CONFIG_DEPTH} levels`;
  problems.refuse(path, isTooDeep ? nested : `expected a JSON value, found ${describeKind(raw)}`);
  return undefined;
}

function copyObject(raw: object, path: KeyPath, problems: Problems): Json {
  const entries: [string, Json][] = [];
  for (const [key, child] of Object.entries(raw)) {
    if (child === undefined) continue;
    if (key === "__proto__") {
      problems.refuseKey([...path, key], "this name is not allowed; choose another");
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

/** Returns for example "a function" or "a Promise". */
function describeKind(raw: unknown): string {
  if (typeof raw !== "object" || raw === null) return raw === undefined ? "nothing" : `a ${typeof raw}`;
  const kind = Object.prototype.toString.call(raw).slice("[object ".length, -1);
  return kind === "Object" ? "an instance of a class" : `a ${kind}`;
}
