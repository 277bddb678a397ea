/** Finds the addresses and names that are nearest to an unknown one, for "did you mean". */

import type { CatalogSnapshot, Tool, ToolAddress } from "../../domain/index.ts";
import { countEdits } from "../../text/index.ts";

/** A guest chooses the name, and a server those of its tools, so only this much of each is compared. */
const COMPARED_LENGTH = 80;
const MAX_CANDIDATES = 1000;
/** The most candidates whose edits are counted: those that share the most characters with the name. */
const MAX_COUNTED = 100;

/** In a slip, at most one of this many characters differs. */
const CLOSE_PART = 5;

/** Added to the distance of a tool in another namespace. */
const OTHER_NAMESPACE = 1;

/** A string without case and separators, and how often it has each character. */
interface FoldedName {
  readonly text: string;
  readonly counts: Uint8Array;
}

interface NamedAddress {
  readonly address: ToolAddress;
  readonly isDeprecated: boolean;
  readonly whole: FoldedName;
  readonly method: FoldedName;
  readonly words: readonly string[];
}

/** Tools are immutable and live as long as their snapshot. */
const folded = new WeakMap<CatalogSnapshot["tools"], readonly NamedAddress[]>();

/**
 * At most `count` addresses that have all words of the name, or share half of its characters, ignoring case and
 * separators: those of the named server first, then nearest first. A deprecated tool is never suggested. With
 * `isClose`, only those that a slip of a few characters explains.
 */
export function findNearest(
  { tools, namespaces }: Pick<CatalogSnapshot, "tools" | "namespaces">,
  name: string,
  count: number,
  { isClose = false }: { readonly isClose?: boolean } = {},
): readonly ToolAddress[] {
  const named = namespaces.find((one) => name.startsWith(`${one.name}.`));
  const isOther = (address: ToolAddress): number =>
    Number(named !== undefined && !address.startsWith(`${named.name}.`));
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const rawMethod = name.slice(name.lastIndexOf(".") + 1).slice(0, COMPARED_LENGTH);
  const [method, words] = [fold(rawMethod), wordsOf(rawMethod)];
  const suggested = foldAll(tools).filter((one) => !one.isDeprecated);
  const candidates = suggested.map((one) => {
    const more = countMoreWords(words, one.words);
    // In the named server, the name of the server says nothing.
    const other = named ? isOther(one.address) * OTHER_NAMESPACE : OTHER_NAMESPACE;
    const isSame = named !== undefined && other === 0;
    const bound = isSame ? Infinity : leastEdits(one.whole, wanted);
    const whole = (): number => (isSame ? Infinity : distanceOf(one.whole, wanted));
    const [edits, all] = [
      () => distanceOf(one.method, method),
      () => countEdits(one.method.text, method.text, Infinity),
    ];
    return {
      name: one.address,
      least: Math.min(bound, leastEdits(one.method, method) + other, more + other),
      measure: () => Math.min(whole(), edits() + other, more + other + (more < Infinity ? all() / MAX_EDITS : 0)),
    };
  });
  const most = isClose ? Math.max(1, Math.floor(method.text.length / CLOSE_PART)) : Infinity;
  const near = pickNearest(candidates, (a, b) => (a < b ? -1 : 1), most);
  return near.toSorted((a, b) => isOther(a) - isOther(b)).slice(0, count);
}

/** What clients write before the name of a server. */
const PREFIX = /^(?:mcp|functions?|tools?)(?=[_.])/i;

/**
 * The one tool that a text names, whatever its case and separators: `files.read_text_file`, `mcp__files__readTextFile`,
 * or `read_text_file` if no other server has a tool of that name.
 */
export function findSpelled({ tools }: Pick<CatalogSnapshot, "tools">, text: string): ToolAddress | undefined {
  if (text.length > COMPARED_LENGTH) return undefined;
  const wanted = fold(text.replace(PREFIX, "")).text;
  const all = foldAll(tools);
  const whole = all.filter((one) => one.whole.text === wanted);
  const found = whole.length > 0 ? whole : all.filter((one) => one.method.text === wanted);
  return wanted !== "" && found.length === 1 ? found[0]?.address : undefined;
}

/** As servers write it: at the start of the description, in brackets, or as a sentence. */
const DEPRECATED =
  /^\W*deprecated\b|[([]deprecated[\])]|\bthis (?:tool|function|method|operation|endpoint) is deprecated\b/i;

const MARKED = /\bDEPRECATED\b\s*[:.-]/;

export function isDeprecated({ summary, description }: Pick<Tool, "summary" | "description">): boolean {
  return [summary, description.slice(0, DESCRIPTION_CHARS)].some((text) => DEPRECATED.test(text) || MARKED.test(text));
}

/** A later mention is about something else. */
const DESCRIPTION_CHARS = 200;

/** Returns the nearest of some names by the same measure; of two equally near ones the first. */
export function findNearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const compared = candidates.slice(0, MAX_CANDIDATES).map((candidate) => {
    const own = fold(candidate.slice(0, COMPARED_LENGTH));
    return { name: candidate, least: leastEdits(own, wanted), measure: () => distanceOf(own, wanted) };
  });
  return pickNearest(compared, () => 0)[0];
}

interface NearCandidate<Name> {
  readonly name: Name;
  /** The distance is never less. */
  readonly least: number;
  readonly measure: () => number;
}

function pickNearest<Name>(
  candidates: readonly NearCandidate<Name>[],
  order: (a: Name, b: Name) => number,
  most = Infinity,
): readonly Name[] {
  return candidates
    .filter(({ least }) => Number.isFinite(least))
    .toSorted((a, b) => a.least - b.least)
    .slice(0, MAX_COUNTED)
    .map(({ name, measure }) => ({ name, distance: measure() }))
    .filter(({ distance }) => Number.isFinite(distance) && distance <= most)
    .toSorted((a, b) => a.distance - b.distance || order(a.name, b.name))
    .map(({ name }) => name);
}

function foldAll(tools: CatalogSnapshot["tools"]): readonly NamedAddress[] {
  const known = folded.get(tools);
  if (known) return known;
  const made = Array.from(tools, ([address, tool]) => ({
    address,
    isDeprecated: isDeprecated(tool),
    whole: fold(address.slice(0, COMPARED_LENGTH)),
    method: fold(address.slice(address.indexOf(".") + 1).slice(0, COMPARED_LENGTH)),
    words: wordsOf(address.slice(address.indexOf(".") + 1).slice(0, COMPARED_LENGTH)),
  }));
  folded.set(tools, made);
  return made;
}

/** `["read", "text", "file"]` for `readTextFile` and `read_text_file`. */
function wordsOf(name: string): readonly string[] {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[^A-Za-z0-9]+/);
  return words.filter((word) => word !== "").map((word) => word.toLowerCase());
}

/** How many words a name has besides the wanted ones; `Infinity` unless it has them all. */
function countMoreWords(wanted: readonly string[], words: readonly string[]): number {
  const hasAll = wanted.length > 0 && wanted.every((word) => words.includes(word));
  return hasAll ? words.length - wanted.length : Infinity;
}

/** No two compared names differ by more. */
const MAX_EDITS = 2 * COMPARED_LENGTH;

/** Digits and letters. */
const CHARACTERS = 36;

function fold(raw: string): FoldedName {
  const text = raw.toLowerCase().replace(/[^a-z0-9]/g, "");
  const counts = new Uint8Array(CHARACTERS);
  for (const character of text) {
    const at = Number.parseInt(character, CHARACTERS);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return { text, counts };
}

/** A bound from below for the edits, without comparing positions; `Infinity` if more than half differs for certain. */
function leastEdits(a: FoldedName, b: FoldedName): number {
  let [more, less] = [0, 0];
  for (let at = 0; at < CHARACTERS; at += 1) {
    const difference = (a.counts[at] ?? 0) - (b.counts[at] ?? 0);
    if (difference > 0) more += difference;
    else less -= difference;
  }
  const least = Math.max(more, less);
  return least > mostEdits(a, b) ? Infinity : least;
}

/** Returns `Infinity` if more than half of the longer string differs. */
function distanceOf(a: FoldedName, b: FoldedName): number {
  return countEdits(a.text, b.text, mostEdits(a, b));
}

function mostEdits(a: FoldedName, b: FoldedName): number {
  return Math.floor(Math.max(a.text.length, b.text.length) / 2);
}
