/**
 * Sorting with a comparator, with the calls and the result of V8: programs count on them when the comparator returns a
 * boolean, a random number or always the same.
 */

import { add, createList, defineOwn, deleteProperty, isArray } from "./intrinsics.ts";
import type { List } from "./intrinsics.ts";

type Compare = (a: unknown, b: unknown) => unknown;

/** V8 sorts fewer elements than this by insertion. */
const LONG = 64;

/** Returns `undefined` for what is not an array or too long. */
export function sortShort(array: unknown, compare: Compare, isCopied: boolean): readonly unknown[] | undefined {
  if (!isArray(array) || array.length >= LONG) return undefined;
  const { length } = array;
  const items = createList<unknown>();
  let missing = 0;
  for (let index = 0; index < length; index += 1) {
    if (!isCopied && !(index in array)) continue;
    const item: unknown = array[index];
    if (item === undefined) missing += 1;
    else add(items, item);
  }
  insertAll(items, countRun(items, compare), compare);
  for (; missing > 0; missing -= 1) add(items, undefined);
  if (isCopied) return copy(items);
  for (let at = 0; at < items.length; at += 1) array[at] = items[at];
  for (let at = items.length; at < length; at += 1) deleteProperty(array, at);
  return array;
}

function copy(items: List<unknown>): readonly unknown[] {
  const array: unknown[] = [];
  for (let at = 0; at < items.length; at += 1) defineOwn(array, at, items[at], true);
  return array;
}

function orderOf(compare: Compare, a: unknown, b: unknown): number {
  const order = +(compare(a, b) as string);
  return order === order ? order : 0;
}

/** The number of elements at the beginning that are in order; if they are in descending order, they are reversed. */
function countRun(items: List<unknown>, compare: Compare): number {
  if (items.length < 2) return items.length;
  const isDescending = orderOf(compare, items[1], items[0]) < 0;
  let run = 2;
  for (; run < items.length; run += 1) {
    if (orderOf(compare, items[run], items[run - 1]) < 0 !== isDescending) break;
  }
  if (isDescending) {
    for (let low = 0, high = run - 1; low < high; low += 1, high -= 1) {
      const item = items[low];
      items[low] = items[high];
      items[high] = item;
    }
  }
  return run;
}

function insertAll(items: List<unknown>, from: number, compare: Compare): void {
  for (let start = from; start < items.length; start += 1) {
    const pivot = items[start];
    let left = 0;
    let right = start;
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (orderOf(compare, pivot, items[middle]) < 0) right = middle;
      else left = middle + 1;
    }
    for (let at = start; at > left; at -= 1) items[at] = items[at - 1];
    items[left] = pivot;
  }
}

/**
 * Runs `sort` with a comparator that calls `onUnequal` when its result can depend on the algorithm: it does not return
 * numbers, or its order of two elements is not the opposite of the order of the same two the other way around.
 */
export function sortLong(compare: Compare, sort: (watched: Compare) => unknown, onUnequal: () => void): unknown {
  let sawBefore = false;
  let sawAfter = false;
  let first: unknown;
  let second: unknown;
  const sorted = sort((a, b) => {
    const order = compare(a, b);
    if (typeof order !== "number" || order !== order) onUnequal();
    else if (order !== 0 && !sawBefore && !sawAfter) {
      first = a;
      second = b;
    }
    if ((order as number) < 0) sawBefore = true;
    else if ((order as number) > 0) sawAfter = true;
    return order;
  });
  if (sawBefore === sawAfter) return sorted;
  const opposite = compare(second, first) as number;
  if (!(sawBefore ? opposite > 0 : opposite < 0)) onUnequal();
  return sorted;
}
