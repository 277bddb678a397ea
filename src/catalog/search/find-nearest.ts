/** Finds the addresses and names that are nearest to an unknown one, for "did you mean". */

import type { CatalogSnapshot, ToolAddress } from "../../domain/index.ts";
import { countEdits } from "../../text/index.ts";

/** A guest chooses the name, so only this much of it is compared. */
const COMPARED_LENGTH = 80;
const MAX_CANDIDATES = 1000;

/** Added to the distance of a tool in another namespace. */
const OTHER_NAMESPACE = 1;

/** At most `count` addresses, nearest first, that share half of their characters, ignoring case and separators. */
export function findNearest(snapshot: CatalogSnapshot, name: string, count: number): readonly ToolAddress[] {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const method = fold(name.slice(name.lastIndexOf(".") + 1).slice(0, COMPARED_LENGTH));
  const measured = Array.from(snapshot.tools.keys(), (address) => {
    const whole = distanceOf(fold(address), wanted);
    const part = distanceOf(fold(address.slice(address.indexOf(".") + 1)), method) + OTHER_NAMESPACE;
    return { address, distance: Math.min(whole, part) };
  });
  return measured
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance || (a.address < b.address ? -1 : 1))
    .slice(0, count)
    .map(({ address }) => address);
}

/** Returns the nearest of some names by the same measure; of two equally near ones the first. */
export function findNearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const [nearest] = candidates
    .slice(0, MAX_CANDIDATES)
    .map((candidate) => ({ candidate, distance: distanceOf(fold(candidate.slice(0, COMPARED_LENGTH)), wanted) }))
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

function fold(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Returns `Infinity` if more than half of the longer string differs. */
function distanceOf(a: string, b: string): number {
  return countEdits(a, b, Math.floor(Math.max(a.length, b.length) / 2));
}
