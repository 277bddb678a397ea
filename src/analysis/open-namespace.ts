/**
 * Makes the body of a TypeScript namespace readable as a block of plain TypeScript: its head and the `export`s in it become
 * spaces, and what they said is kept for the linking afterwards. An alias (`import a = N.b`) becomes a variable in place.
 */

import { blank, blankAll } from "./blank.ts";
import { scanTokens } from "./scan-tokens.ts";
import type { Token } from "./scan-tokens.ts";

/** A namespace whose head was taken off. All offsets are in the author's text. */
export interface NamespaceBody {
  /** `A` and `B` for `namespace A.B`. */
  readonly names: readonly string[];
  /** Where its keyword stood. */
  readonly start: number;
  /** The opening brace. */
  readonly open: number;
  /** The offset behind the closing brace. */
  readonly end: number;
  /** Where the declarations begin that were exported from it. */
  readonly exports: readonly number[];
}

/** Declarations that are types only: there is nothing to export when the program runs. */
const TYPES_ONLY: ReadonlySet<string> = new Set(["interface", "type", "declare"]);
/** `namespace A.B.C` may have so many names; each is said again for every one after it. */
const MAX_NAMES = 20;
const MAYBE_ALIAS = /\bimport\s+[\p{ID_Start}$_][^\s=]*(?:\s+[\p{ID_Start}$_][^\s=]*)?\s*=/u;

/** `undefined` when the text from `start` to `end` is no namespace that can be translated. */
export function openNamespace(
  text: string,
  { offset, end }: { readonly offset: number; readonly end: number },
): { readonly text: string; readonly body: NamespaceBody } | undefined {
  const tokens = [...scanTokens(text.slice(offset, end))];
  const brace = tokens.findIndex(({ text: sign }) => sign === "{");
  const open = tokens[brace];
  const names = tokens.slice(1, brace).flatMap(({ kind, text: name }) => (kind === "word" ? [name] : []));
  const isPlain = tokens.slice(1, brace).every(({ kind, text: sign }) => kind === "word" || sign === ".");
  if (!open || names.length === 0 || names.length > MAX_NAMES || !isPlain || isExported(text, offset)) return undefined;
  const exported = findExports(tokens.slice(brace));
  const words = exported.map(({ at }) => [offset + at, offset + at + "export".length] as const);
  const opened = blankAll(text, [[offset, offset + open.start], ...words]);
  const exports = exported.flatMap(({ next }) => (next === undefined ? [] : [offset + next]));
  return { text: opened, body: { names, start: offset, open: offset + open.start, end, exports } };
}

/** A namespace that is itself exported from a module is for the rule about exports to refuse. */
function isExported(text: string, offset: number): boolean {
  return /\bexport\s+$/u.test(text.slice(Math.max(0, offset - 100), offset));
}

interface Exported {
  readonly at: number;
  /** Where the declaration begins, unless it is a type. */
  readonly next: number | undefined;
}

/** `tokens` begins with the opening brace; only what stands directly in it counts. */
function findExports(tokens: readonly Token[]): readonly Exported[] {
  const found: Exported[] = [];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "mark" && ["(", "[", "{", "${"].includes(token.text)) depth += 1;
    if ([")", "]", "}"].includes(token.text)) depth -= 1;
    const after = tokens[index + 1];
    if (depth !== 1 || token.text !== "export" || after?.kind !== "word") continue;
    const first = after.text === "abstract" ? tokens[index + 2] : after;
    found.push({ at: token.start, next: TYPES_ONLY.has(after.text) ? undefined : first?.start });
  }
  return found;
}

/** `import a = N.b` declares a variable: the word is replaced in place, so that nothing moves. Of a type nothing stays. */
export function replaceAliases(text: string): string {
  if (!mayAlias(text)) return text;
  const tokens = [...scanTokens(text)];
  let [replaced, copied] = ["", 0];
  for (const [at, { text: word, start }] of tokens.entries()) {
    const isType = tokens[at + 1]?.text === "type" && tokens[at + 2]?.kind === "word";
    const from = isType ? at + 2 : at + 1;
    const [name, sign, first] = [tokens[from], tokens[from + 1], tokens[from + 2]];
    const isAlias = word === "import" && name?.kind === "word" && sign?.text === "=" && first?.kind === "word";
    if (!isAlias || first.text === "require") continue;
    const end = isType ? endOfPath(tokens, from + 2) : start + word.length;
    replaced += text.slice(copied, start) + (isType ? blank(text.slice(start, end), 0, end - start) : "var   ");
    copied = end;
  }
  return replaced + text.slice(copied);
}

/** Where `N.b.c` ends that starts with the token at `at`. */
function endOfPath(tokens: readonly Token[], at: number): number {
  let last = at;
  while (tokens[last + 1]?.text === "." && tokens[last + 2]?.kind === "word") last += 2;
  const token = tokens[last];
  return token ? token.start + token.text.length : 0;
}

/** Whether the text may have an alias at all. */
export function mayAlias(text: string): boolean {
  return MAYBE_ALIAS.test(text);
}
