/** Paths into JSON values, parsed once: `amount`, `$.to[0]`, `items[*].price`, `["odd key"]`. */

import type { Condition } from "../../../domain/index.ts";

type PathStep = Condition["path"]["steps"][number];

const MAX_LENGTH = 500;
const MAX_STEPS = 32;
const ROOT = /^\$(?=$|[.[])\.?(?!$)|^\$$/;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[(\*)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** `undefined` for what is no path. The leading `$.` may be left out. */
export function parseJsonPath(raw: unknown): Condition["path"] | undefined {
  if (typeof raw !== "string" || raw === "" || raw.length > MAX_LENGTH) return undefined;
  const body = raw.replace(ROOT, "");
  const steps: PathStep[] = [];
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

/** A dot joins two steps; the first step has none, and a name after another step needs one. */
function isMisplacedDot(body: string, at: number): boolean {
  const isDot = body[at] === ".";
  return at === 0 ? isDot : !isDot && body[at] !== "[";
}

function toStep([, key, index, each, quoted]: RegExpExecArray): PathStep | undefined {
  if (key !== undefined) return { kind: "key", key };
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (each !== undefined) return { kind: "each" };
  const unquoted = parseQuoted(quoted ?? "");
  return unquoted === undefined ? undefined : { kind: "key", key: unquoted };
}

function parseQuoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
