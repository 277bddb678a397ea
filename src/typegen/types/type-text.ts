/** Types as text, and how they combine. Keeps track of unions, which the compiler multiplies out in intersections. */

/** A finished piece of a type. */
export interface TypeText {
  readonly kind: "unknown" | "never" | "single" | "union";
  readonly text: string;
  /** How many members it has once all is multiplied out. */
  readonly width: number;
}

/** More alternatives help no reader, and the compiler gives up on very large unions. */
const MAX_UNION = 100;
/** The compiler refuses to multiply out about 100 000 members; this stays far below. */
const MAX_WIDTH = 1000;

/** The type of no value at all, as `false` says. */
export const NEVER: TypeText = { kind: "never", text: "never", width: 0 };

/** A type that needs no parentheses anywhere. */
export function single(text: string): TypeText {
  return { kind: "single", text, width: 1 };
}

/** The type of a value about which nothing is known; `any` where a program reads it, `unknown` where it gives it. */
export function open(text: "unknown" | "any"): TypeText {
  return { kind: "unknown", text, width: 1 };
}

/** One of them. Too many are not cut, which would forbid the rest, but become the open type. */
export function unite(parts: readonly TypeText[], otherwise: TypeText): TypeText {
  if (parts.some((part) => part.kind === "unknown")) return otherwise;
  const members = new Map(parts.filter((part) => part.kind !== "never").map((part) => [part.text, part]));
  const [first, ...more] = members.values();
  if (!first) return NEVER;
  if (more.length === 0) return first;
  if (members.size > MAX_UNION) return otherwise;
  const width = [...members.values()].reduce((sum, part) => sum + part.width, 0);
  return { kind: "union", text: [...members.keys()].join(" | "), width };
}

/** All of them. A part that would make the whole too wide is left out: the type gets looser, never wrong. */
export function intersect(parts: readonly TypeText[], otherwise: TypeText): TypeText {
  if (parts.some((part) => part.kind === "never")) return NEVER;
  const kept = new Map<string, TypeText>();
  let width = 1;
  for (const part of parts) {
    if (part.kind === "unknown" || width * part.width > MAX_WIDTH) continue;
    width *= part.width;
    kept.set(part.text, part);
  }
  const [first, ...more] = kept.values();
  if (!first) return otherwise;
  if (more.length === 0) return first;
  return { kind: "single", text: [...kept.values()].map(enclose).join(" & "), width };
}

/** Text that can be followed by an operator. */
export function enclose(part: TypeText): string {
  return part.kind === "union" || part.text.includes(" & ") ? `(${part.text})` : part.text;
}
