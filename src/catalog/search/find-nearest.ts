/** Finds the addresses and names that are nearest to an unknown one, for "did you mean". */

import type { CatalogSnapshot, ToolAddress } from "../../domain/index.ts";
import { countEdits } from "../../text/index.ts";

/** A guest chooses the name, and a server those of its tools, so only this much of each is compared. */
const COMPARED_LENGTH = 80;
const MAX_CANDIDATES = 1000;
/** The most candidates whose edits are counted: those that share the most characters with the name. */
const MAX_COUNTED = 100;

/** Added to the distance of a tool in another namespace. */
const OTHER_NAMESPACE = 1;

/** A string without case and separators, and how often it has each character. */
interface FoldedName {
  readonly text: string;
  readonly counts: Uint8Array;
}

interface NamedAddress {
  readonly address: ToolAddress;
  readonly whole: FoldedName;
  readonly method: FoldedName;
}

/** Tools are immutable and live as long as their snapshot. */
const folded = new WeakMap<CatalogSnapshot["tools"], readonly NamedAddress[]>();

/** At most `count` addresses, nearest first, that share half of their characters, ignoring case and separators. */
export function findNearest({ tools }: CatalogSnapshot, name: string, count: number): readonly ToolAddress[] {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const method = fold(name.slice(name.lastIndexOf(".") + 1).slice(0, COMPARED_LENGTH));
  const candidates = foldAll(tools).map((one) => ({
    name: one.address,
    least: Math.min(leastEdits(one.whole, wanted), leastEdits(one.method, method) + OTHER_NAMESPACE),
    measure: () => Math.min(distanceOf(one.whole, wanted), distanceOf(one.method, method) + OTHER_NAMESPACE),
  }));
  return pickNearest(candidates, (a, b) => (a < b ? -1 : 1)).slice(0, count);
}

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
): readonly Name[] {
  return candidates
    .filter(({ least }) => Number.isFinite(least))
    .toSorted((a, b) => a.least - b.least)
    .slice(0, MAX_COUNTED)
    .map(({ name, measure }) => ({ name, distance: measure() }))
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance || order(a.name, b.name))
    .map(({ name }) => name);
}

function foldAll(tools: CatalogSnapshot["tools"]): readonly NamedAddress[] {
  const known = folded.get(tools);
  if (known) return known;
  const made = Array.from(tools.keys(), (address) => ({
    address,
    whole: fold(address.slice(0, COMPARED_LENGTH)),
    method: fold(address.slice(address.indexOf(".") + 1).slice(0, COMPARED_LENGTH)),
  }));
  folded.set(tools, made);
  return made;
}

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
