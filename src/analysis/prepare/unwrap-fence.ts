/**
 * Models often send a fenced markdown block, alone or with prose around it. Fences and prose are blanked, so the program
 * keeps its lines and columns. Prose never runs: if it is unclear which block is the program, none is.
 */

import { blank } from "../edit-text.ts";
import { refuse } from "../locate.ts";
import { scanTokens } from "../scan-tokens.ts";

/** `opened` is the offset of the fence, or `undefined` if there was none. */
export interface UnwrappedSource {
  readonly text: string;
  readonly opened: number | undefined;
  /** Whether prose around the block was dropped. */
  readonly hadProse?: true;
}

const OPENING = /^\s*?(?<mark>`{3,}|~{3,})[ \t]*[\w+.#-]*[ \t]*(?=[\n\r])/u;
const CLOSING = /[\n\r][ \t]*(?<mark>`{3,}|~{3,})\s*$/u;
/** The closing fence is searched in the tail only: matching at every line of a long text is slow. */
const TAIL_CHARS = 1_000;

/** A line that is only a fence. In JavaScript, three backticks at the start of a line are never useful. */
const FENCE_LINE = /^(?<lead>[ \t]*)(?<mark>`{3,})[ \t]*(?<language>[\w+.#-]*)[ \t]*$/gmu;
const LANGUAGES = /^(?:|js|jsx|mjs|javascript|ts|tsx|typescript|node|code)$/iu;
/** More fences are not a program. */
const MAX_FENCES = 20;

/** Throws PROGRAM_SYNTAX for several blocks with prose around them. */
export function unwrapFence(source: string): UnwrappedSource {
  return unwrapWhole(source) ?? unwrapFromProse(source) ?? { text: source, opened: undefined };
}

/** A source that is exactly one block, in any language; a second fence inside makes it ambiguous. */
function unwrapWhole(source: string): UnwrappedSource | undefined {
  const opening = OPENING.exec(source);
  const tailStart = Math.max(0, source.trimEnd().length - TAIL_CHARS);
  const closing = CLOSING.exec(source.slice(tailStart));
  const mark = opening?.groups?.["mark"];
  const closingMark = closing?.groups?.["mark"];
  if (!opening || !closing || !mark || !closingMark?.startsWith(mark)) return undefined;
  const inside = source.slice(opening[0].length, tailStart + closing.index);
  if (inside.split(/[\n\r]/u).some((line) => line.trimStart().startsWith(mark))) return undefined;
  const text = blank(blank(source, 0, opening[0].length), tailStart + closing.index, source.length);
  return { text, opened: source.indexOf(mark) };
}

/** The fence at the start of a source that no fence closes, as in a message that was cut. */
export function findOpenFence(source: string): string | undefined {
  return OPENING.exec(source)?.[0].trim();
}

interface Fence {
  readonly mark: string;
  readonly language: string;
  /** The offset of the mark. */
  readonly at: number;
  readonly lineStart: number;
  readonly end: number;
}

function unwrapFromProse(source: string): UnwrappedSource | undefined {
  if (!source.includes("```")) return undefined;
  const fences = findFences(source);
  const [opening, closing] = fences;
  if (!opening || !closing || !startsToken(source, opening.at)) return undefined;
  if (fences.length > 2) throw refuseSeveral(source, opening.at);
  const isClosed = closing.language === "" && closing.mark.startsWith(opening.mark);
  if (!isClosed || !LANGUAGES.test(opening.language)) return undefined;
  const text = blank(blank(source, 0, opening.end), closing.lineStart, source.length);
  return { text, opened: opening.at, hadProse: true };
}

function findFences(source: string): readonly Fence[] {
  const fences: Fence[] = [];
  for (const { 0: line, index, groups } of source.matchAll(FENCE_LINE)) {
    const { lead = "", mark = "", language = "" } = groups ?? {};
    fences.push({ mark, language, at: index + lead.length, lineStart: index, end: index + line.length });
    if (fences.length > MAX_FENCES) break;
  }
  return fences;
}

/** A fence inside a comment or a string is part of the program. */
function startsToken(source: string, at: number): boolean {
  for (const { start } of scanTokens(source)) if (start >= at) return start === at;
  return false;
}

function refuseSeveral(source: string, offset: number): Error {
  const message = "There are several fenced blocks, and it is unclear which one is the program";
  return refuse("PROGRAM_SYNTAX", source, { message, offset, hint: "Send only the program" });
}
