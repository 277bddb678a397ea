/** Finds a value in JSON by a simple path such as `issues[0].user["full name"]`, without patterns or expressions. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

const MAX_PATH_CHARS = 1_000;
const MAX_SHOWN_KEYS = 20;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Throws `REQUEST_INVALID` for an invalid path or one that does not exist; the hint describes what exists instead. */
export function findPath(value: Json, path: string): Json {
  let found = value;
  let walked = "";
  for (const step of parsePath(path)) {
    const next = stepInto(found, step);
    if (next === undefined) throw nowhere(walked, step, found);
    walked += typeof step === "number" ? `[${step}]` : `.${step}`;
    found = next;
  }
  return found;
}

/** Own fields only: `constructor` is a key like any other. */
function stepInto(value: Json, step: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  if (!isJsonObject(value) || !Object.hasOwn(value, String(step))) return undefined;
  return value[String(step)];
}

function parsePath(path: string): readonly (string | number)[] {
  if (path.length > MAX_PATH_CHARS) throw malformed(`it is longer than ${MAX_PATH_CHARS} characters`);
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const found = STEP.exec(path);
    if (!found) throw malformed(`it is malformed from character ${at + 1} on`);
    const [, name, index, quoted] = found;
    steps.push(index === undefined ? (name ?? parseQuoted(quoted)) : Number(index));
  }
  return steps;
}

function parseQuoted(quoted: string | undefined): string {
  try {
    return String(JSON.parse(quoted ?? '""'));
  } catch {
    throw malformed("a quoted name is not a JSON string");
  }
}

function malformed(why: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The path is invalid: ${why}`, {
    hint: 'Write it as in issues[0].user["full name"]',
  });
}

function nowhere(walked: string, step: string | number, value: Json): GloveboxError {
  const where = walked === "" ? "The result" : walked.replace(/^\./, "").slice(0, 100);
  return new GloveboxError("REQUEST_INVALID", `${where} does not contain ${JSON.stringify(step)}`, {
    hint: describePlace(value),
  });
}

function describePlace(value: Json): string {
  if (Array.isArray(value)) return `It is an array of ${value.length} items`;
  if (!isJsonObject(value)) return `It is ${value === null ? "null" : `a ${typeof value}`}`;
  const keys = Object.keys(value).map((key) => key.slice(0, 50));
  return `It has ${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}${keys.length > MAX_SHOWN_KEYS ? ", …" : ""}`;
}
