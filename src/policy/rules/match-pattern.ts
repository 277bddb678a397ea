/** Matches a string against a pattern. The time is bounded by the product of the two lengths, which are both limited. */

import { matchWildcard } from "../../text/index.ts";
import type { Condition } from "../../domain/index.ts";

type PatternTest = Extract<Condition["test"], { readonly kind: "matches" }>["pattern"];

type PatternPiece = PatternTest["pieces"][number];

/** Never backtracks: pieces have a fixed length, so a later match of one never leaves more room for the rest. */
export function matchPattern({ pieces, plain }: PatternTest, text: string): boolean {
  if (plain) return matchWildcard(plain, text);
  const characters = Array.from(text);
  const [first = [], ...rest] = pieces;
  const last = rest.pop();
  if (!last) return first.length === characters.length && fitsAt(first, characters, 0);
  const end = characters.length - last.length;
  if (end < first.length || !fitsAt(first, characters, 0) || !fitsAt(last, characters, end)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = findPiece(piece, characters, { from, end });
    if (at === undefined) return false;
    from = at + piece.length;
  }
  return true;
}

function findPiece(
  piece: PatternPiece,
  characters: readonly string[],
  { from, end }: { readonly from: number; readonly end: number },
): number | undefined {
  for (let at = from; at + piece.length <= end; at += 1) if (fitsAt(piece, characters, at)) return at;
  return undefined;
}

function fitsAt(piece: PatternPiece, characters: readonly string[], at: number): boolean {
  return piece.every((part, offset) => {
    const character = characters[at + offset];
    return character !== undefined && fits(part, character);
  });
}

function fits(part: PatternPiece[number], character: string): boolean {
  switch (part.kind) {
    case "any":
      return true;
    case "one":
      return part.character === character;
    case "set":
      return part.ranges.some(([from, to]) => isBetween(character, from, to)) !== part.negated;
    default:
      return part satisfies never;
  }
}

/** Compares code points, because comparing strings orders characters above U+FFFF wrongly. */
function isBetween(character: string, from: string, to: string): boolean {
  const point = pointOf(character);
  return pointOf(from) <= point && point <= pointOf(to);
}

function pointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
