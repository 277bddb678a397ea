/**
 * Parses patterns for strings that a program chooses: `*` any characters, `?` one character, `[a-z]` and `[!a-z]` one
 * of a set, `\` escapes the next character. A pattern matches the whole string. Matching is always fast, because the
 * part between two stars has a fixed length.
 */

import type { Condition } from "../../../domain/index.ts";

type Pattern = Extract<Condition["test"], { readonly kind: "matches" }>["pattern"];
type PatternCharacter = Pattern["pieces"][number][number];

const MAX_LENGTH = 200;

/** Returns `undefined` for an invalid pattern: empty, too long, or with an unfinished set or escape. */
export function parseTextPattern(raw: unknown): Pattern | undefined {
  if (typeof raw !== "string" || raw === "" || raw.length > MAX_LENGTH) return undefined;
  const characters = Array.from(raw);
  const pieces: PatternCharacter[][] = [[]];
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

function toPlain(pieces: readonly (readonly PatternCharacter[])[]): readonly string[] | null {
  if (pieces.some((piece) => piece.some(({ kind }) => kind !== "one"))) return null;
  return pieces.map((piece) => piece.map((part) => (part.kind === "one" ? part.character : "")).join(""));
}

interface ParsedPart {
  readonly part: PatternCharacter;
  readonly next: number;
}

function parsePart(characters: readonly string[], at: number): ParsedPart | undefined {
  const character = characters[at];
  if (character === "?") return { part: { kind: "any" }, next: at + 1 };
  if (character === "[") return parseSet(characters, at + 1);
  const member = takeMember(characters, at);
  return member && { part: { kind: "one", character: member.character }, next: member.next };
}

/** Starts after the bracket. A set has at least one character; `]` and `-` in it need a backslash. */
function parseSet(characters: readonly string[], start: number): ParsedPart | undefined {
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
