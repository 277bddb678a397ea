/** Types as text, and how they combine. Tracks the width of unions, which the compiler expands in intersections. */

export interface TypeText {
  readonly kind: "unknown" | "never" | "single" | "union";
  readonly text: string;
  readonly width: number;
}

/** Larger unions are hard to read, and the compiler refuses very large ones. */
const MAX_UNION = 100;
/** The compiler refuses to expand about 100,000 members; this is far below. */
const MAX_WIDTH = 1000;

/** The type without values, of the schema `false`. */
export const NEVER: TypeText = { kind: "never", text: "never", width: 0 };

/** Returns a type that never needs parentheses. */
export function single(text: string): TypeText {
  return { kind: "single", text, width: 1 };
}

/** Returns the type of an undescribed value: `any` in results, `unknown` in arguments. */
export function open(text: "unknown" | "any"): TypeText {
  return { kind: "unknown", text, width: 1 };
}

/** Returns the union. Too many members become the open type, because omitting some would forbid them. */
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

/** Returns the intersection. A part that would make it too wide is omitted: the type becomes looser, never wrong. */
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

/** Returns text that can be followed by an operator. */
export function enclose(part: TypeText): string {
  return part.kind === "union" || part.text.includes(" & ") ? `(${part.text})` : part.text;
}
