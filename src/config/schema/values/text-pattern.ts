/**
 * The pattern language for texts that a program chose: `*` any run of characters, `?` one character, `[a-z]` and
 * `[!a-z]` one of a set, `\` takes the next character as it is. It always has to fit the whole text. There is no way
 * to write one that takes long: what stands between two stars has a fixed length.
 */

import type { Condition } from "../../../domain/index.ts";

type TextPattern = Extract<Condition["test"], { readonly kind: "matches" }>["pattern"];
type PatternPart = TextPattern["pieces"][number][number];

const MAX_LENGTH = 200;

/** `undefined` for a text that is no pattern: empty, too long, or with a set or an escape that does not end. */
export function parseTextPattern(raw: unknown): TextPattern | undefined {
  if (typeof raw !== "string" || raw === "" || raw.length > MAX_LENGTH) return undefined;
  const characters = Array.from(raw);
  const pieces: PatternPart[][] = [[]];
  for (let at = 0; at < characters.length;) {
    if (characters[at] === "*") {
      pieces.push([]);
      at += 1;
      continue;
    }
    const parsed = parsePart(characters, at);
    if (!parsed) return undefined;
    pieces.at(-1)?.push(parsed.part);
    at = parsed.next;
  }
  return { text: raw, pieces, plain: toPlain(pieces) };
}

function toPlain(pieces: readonly (readonly PatternPart[])[]): readonly string[] | null {
  if (pieces.some((piece) => piece.some(({ kind }) => kind !== "one"))) return null;
  return pieces.map((piece) => piece.map((part) => (part.kind === "one" ? part.character : "")).join(""));
}

interface Parsed {
  readonly part: PatternPart;
  readonly next: number;
}

function parsePart(characters: readonly string[], at: number): Parsed | undefined {
  const character = characters[at];
  if (character === "?") return { part: { kind: "any" }, next: at + 1 };
  if (character === "[") return parseSet(characters, at + 1);
  const isEscape = character === "\\";
  const taken = isEscape ? characters[at + 1] : character;
  return taken === undefined ? undefined : { part: { kind: "one", character: taken }, next: at + (isEscape ? 2 : 1) };
}

/** After the bracket. A set holds at least one character; `]` and `-` stand in it behind a backslash. */
function parseSet(characters: readonly string[], start: number): Parsed | undefined {
  const negated = characters[start] === "!";
  const ranges: [string, string][] = [];
  let at = negated ? start + 1 : start;
  while (at < characters.length && characters[at] !== "]") {
    const from = takeMember(characters, at);
    if (!from) return undefined;
    const isRange = characters[from.next] === "-" && characters[from.next + 1] !== "]";
    const to = isRange ? takeMember(characters, from.next + 1) : from;
    if (!to || compare(from.character, to.character) > 0) return undefined;
    ranges.push([from.character, to.character]);
    at = to.next;
  }
  return at < characters.length && ranges.length > 0
    ? { part: { kind: "set", negated, ranges }, next: at + 1 }
    : undefined;
}

function takeMember(characters: readonly string[], at: number) {
  const isEscape = characters[at] === "\\";
  const character = characters[isEscape ? at + 1 : at];
  return character === undefined ? undefined : { character, next: at + (isEscape ? 2 : 1) };
}

function compare(a: string, b: string): number {
  return (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0);
}
