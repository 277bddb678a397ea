/** "Did you mean": the addresses that differ least from one that does not exist. */

import type { CatalogSnapshot, ToolAddress } from "../../domain/index.ts";

/** A guest chooses the name, so only this much of it is compared. */
const COMPARED_LENGTH = 80;
const MAX_CANDIDATES = 1000;

/** With a wrong namespace a tool counts as this much farther away. */
const OTHER_NAMESPACE = 1;

interface Neighbor {
  readonly address: ToolAddress;
  readonly distance: number;
}

/**
 * At most `count`, nearest first; none that shares less than half of its characters with what was asked.
 * Case and separators do not count: `github.list_issues` is at no distance from `github.listIssues`.
 */
export function findNearest(snapshot: CatalogSnapshot, name: string, count: number): readonly ToolAddress[] {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  const method = fold(name.slice(name.lastIndexOf(".") + 1).slice(0, COMPARED_LENGTH));
  const near: Neighbor[] = [];
  for (const address of snapshot.tools.keys()) {
    const whole = distanceOf(fold(address), wanted);
    const part = distanceOf(fold(address.slice(address.indexOf(".") + 1)), method) + OTHER_NAMESPACE;
    const distance = Math.min(whole, part);
    if (Number.isFinite(distance)) near.push({ address, distance });
  }
  const sorted = near.toSorted((a, b) => a.distance - b.distance || (a.address < b.address ? -1 : 1));
  return sorted.slice(0, count).map((neighbor) => neighbor.address);
}

/** The nearest of some names, by the same measure; of two that are equally near the first. */
export function findNearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(name.slice(0, COMPARED_LENGTH));
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
    const distance = distanceOf(fold(candidate.slice(0, COMPARED_LENGTH)), wanted);
    if (distance < (nearest?.distance ?? Infinity)) nearest = { name: candidate, distance };
  }
  return nearest?.name;
}

function fold(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Levenshtein distance, or `Infinity` above half of the longer text; most are given up after a few rows. */
function distanceOf(a: string, b: string): number {
  const limit = Math.floor(Math.max(a.length, b.length) / 2);
  if (Math.abs(a.length - b.length) > limit) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    row = nextRow(row, b, { code: a.charCodeAt(i - 1), first: i });
    if (Math.min(...row) > limit) return Infinity;
  }
  const distance = row[b.length] ?? Infinity;
  return distance > limit ? Infinity : distance;
}

function nextRow(row: readonly number[], b: string, { code, first }: { code: number; first: number }): number[] {
  const next = [first];
  for (let j = 1; j <= b.length; j += 1) {
    const changed = (row[j - 1] ?? 0) + (b.charCodeAt(j - 1) === code ? 0 : 1);
    next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
  }
  return next;
}
