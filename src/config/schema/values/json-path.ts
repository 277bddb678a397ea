/** Parses paths into JSON values: `amount`, `$.to[0]`, `items[*].price`, `["odd key"]`. */

import { parseJson } from "../../../domain/index.ts";
import type { Condition } from "../../../domain/index.ts";

type PathPart = Condition["path"]["steps"][number];

const MAX_LENGTH = 500;
const MAX_STEPS = 32;
const ROOT = /^\$(?=$|[.[])\.?(?!$)|^\$$/;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[(\*)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Returns `undefined` for an invalid path. The leading `$.` is optional. */
export function parseJsonPath(raw: unknown): Condition["path"] | undefined {
  if (typeof raw !== "string" || raw === "" || raw.length > MAX_LENGTH) return undefined;
  const body = raw.replace(ROOT, "");
  const steps: PathPart[] = [];
  for (let at = 0; at < body.length;) {
    STEP.lastIndex = at;
    const found = STEP.exec(body);
    const step = found && toStep(found);
    if (!step || steps.length === MAX_STEPS || isMisplacedDot(body, at)) return undefined;
    steps.push(step);
    at = STEP.lastIndex;
  }
  return { text: raw, steps };
}

/** A name needs a dot before it, except as the first step. */
function isMisplacedDot(body: string, at: number): boolean {
  const isDot = body[at] === ".";
  return at === 0 ? isDot : !isDot && body[at] !== "[";
}

function toStep([, key, index, each, quoted]: RegExpExecArray): PathPart | undefined {
  if (key !== undefined) return { kind: "key", key };
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (each !== undefined) return { kind: "each" };
  const unquoted = parseJson(quoted ?? "");
  return typeof unquoted === "string" ? { kind: "key", key: unquoted } : undefined;
}
