/**
 * Translates accessor fields (`accessor x = 1`), which no engine supports yet, to a private field and two accessors.
 * The keyword becomes spaces, the rest is inserted before the name.
 */

import { blankAll, insert } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import { scanTokens } from "../scan-tokens.ts";
import type { Token } from "../scan-tokens.ts";

/** Each grows to six times its length. A class with more is left as it is, and the parser refuses it. */
const MAX_FIELDS = 50;
const WORD = "accessor";
const MAYBE = /\baccessor\s+#?[\p{ID_Start}$_]/u;
/** Tokens that can precede an accessor field. */
const BEFORE: ReadonlySet<string> = new Set(["{", "}", ";", "static", "public", "private", "protected", "override"]);
/** Tokens that can follow a field's name. */
const AFTER: ReadonlySet<string> = new Set(["=", ";", ":", "}", "?", "!"]);

export function transformAccessors(text: string): EditedText {
  if (!MAYBE.test(text)) return { javascript: text, insertions: [] };
  const tokens = [...scanTokens(text)];
  const mark = findFreeName(text);
  const ranges: (readonly [number, number])[] = [];
  const additions: Edit[] = [];
  for (const [at, token] of tokens.entries()) {
    const field = token.text === WORD ? readField(tokens, at) : undefined;
    if (!field) continue;
    ranges.push([token.start, token.start + WORD.length]);
    additions.push(...additionsOf(field, mark));
  }
  return ranges.length > MAX_FIELDS ? { javascript: text, insertions: [] } : insert(blankAll(text, ranges), additions);
}

function findFreeName(text: string): string {
  let mark = "$field_";
  while (text.includes(mark)) mark += "$";
  return mark;
}

interface AccessorField {
  /** Without `#`. */
  readonly name: string;
  readonly isPrivate: boolean;
  readonly isStatic: boolean;
  readonly start: number;
}

function readField(tokens: readonly Token[], at: number): AccessorField | undefined {
  const before = tokens[at - 1];
  const isPrivate = tokens[at + 1]?.text === "#";
  const name = tokens[isPrivate ? at + 2 : at + 1];
  const after = tokens[isPrivate ? at + 3 : at + 2];
  if (name?.kind !== "word" || !after || tokens[at + 1]?.afterLineEnd) return undefined;
  const startsMember = before !== undefined && (BEFORE.has(before.text) || tokens[at]?.afterLineEnd === true);
  if (!startsMember || (!AFTER.has(after.text) && !after.afterLineEnd)) return undefined;
  return { name: name.text, isPrivate, isStatic: before.text === "static", start: name.start };
}

function additionsOf({ name, isPrivate, isStatic, start }: AccessorField, mark: string): readonly Edit[] {
  const shown = isPrivate ? `#${name}` : name;
  const kept = `this.#${mark}${name}`;
  const lead = isStatic ? "static " : "";
  const pair = `get ${shown}(){return ${kept}}${lead}set ${shown}(value){${kept}=value}${lead}`;
  if (!isPrivate) return [{ at: start, text: `${pair}#${mark}` }];
  return [
    { at: start - 1, text: pair },
    { at: start, text: mark },
  ];
}
