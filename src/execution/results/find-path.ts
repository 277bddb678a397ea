/** Finds a place in a JSON value by a simple path such as `issues[0].user["full name"]`. No pattern, no expression. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

const MAX_PATH_CHARS = 1_000;
const MAX_SHOWN_KEYS = 20;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Throws `REQUEST_INVALID` for a path that is none or leads nowhere, and says what is there instead. */
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

/** Own fields only: `constructor` is a key like any other, and mostly none. */
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
    if (!found) throw malformed(`it cannot be read from character ${at + 1} on`);
    const [, name, index, quoted] = found;
    steps.push(index === undefined ? (name ?? parseQuoted(quoted)) : Number(index));
  }
  return steps;
}

function parseQuoted(quoted: string | undefined): string {
  try {
    return String(JSON.parse(quoted ?? '""'));
  } catch {
    throw malformed("a name in quotes is not a JSON text");
  }
}

function malformed(why: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The path is not one: ${why}`, {
    hint: 'Write it as in issues[0].user["full name"]',
  });
}

function nowhere(walked: string, step: string | number, value: Json): GloveboxError {
  const where = walked === "" ? "the result" : walked.replace(/^\./, "").slice(0, 100);
  return new GloveboxError("REQUEST_INVALID", `There is no ${JSON.stringify(step)} in ${where}`, {
    hint: describePlace(value),
  });
}

function describePlace(value: Json): string {
  if (Array.isArray(value)) return `It is a list of ${value.length} items`;
  if (!isJsonObject(value)) return `It is a ${value === null ? "null" : typeof value}`;
  const keys = Object.keys(value).map((key) => key.slice(0, 50));
  return `It has ${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}${keys.length > MAX_SHOWN_KEYS ? ", …" : ""}`;
}
