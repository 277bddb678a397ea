/** Sorting as V8 does: the same result and the same calls of the comparator, compared with the V8 of this process. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { sortLong, sortShort } from "./sort-as-v8.ts";

type Compare = (a: unknown, b: unknown) => unknown;

const COMPARATORS: Readonly<Record<string, () => Compare>> = {
  ascending: () => (a, b) => Number(a) - Number(b),
  descending: () => (a, b) => Number(b) - Number(a),
  "a boolean": () => (a, b) => Number(a) > Number(b),
  "the other boolean": () => (a, b) => Number(a) < Number(b),
  "always 0": () => () => 0,
  "always 1": () => () => 1,
  "always -1": () => () => -1,
  "not a number": () => () => NaN,
  "pseudorandom numbers": () => {
    let state = 1;
    return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  },
};

/** The sorted array, and every pair that was compared. */
function record(array: unknown[], compare: Compare, sort: (array: unknown[], compare: Compare) => unknown): unknown {
  const pairs: unknown[] = [];
  const sorted = sort(array, (a, b) => {
    pairs.push([a, b]);
    return compare(a, b);
  });
  return { sorted, array, pairs };
}

describe("sortShort", () => {
  for (const [name, make] of Object.entries(COMPARATORS)) {
    it(`compares and sorts as V8 does with a comparator that returns ${name}`, () => {
      for (let length = 0; length < 64; length += 1) {
        const array: unknown[] = Array.from({ length }, (_, index) => (index * 37 + length) % 64);
        if (length > 5) array[3] = undefined;
        if (length > 9) Reflect.deleteProperty(array, 7);
        for (const isCopied of [false, true]) {
          assert.deepEqual(
            record(array.slice(), make(), (all, compare) => sortShort(all, compare, isCopied)),
            record(array.slice(), make(), (all, compare) =>
              isCopied ? all.toSorted(compare as () => number) : all.sort(compare as () => number),
            ),
          );
        }
      }
    });
  }
  it("leaves longer arrays and other objects to the engine", () => {
    const compare = (): number => 0;
    assert.equal(sortShort(Array.from({ length: 64 }), compare, false), undefined);
    assert.equal(sortShort({ length: 1, 0: 1 }, compare, false), undefined);
    assert.ok(sortShort(Array.from({ length: 63 }), compare, false));
  });
});

describe("sortLong", () => {
  const isUnequal = (array: readonly number[], compare: Compare): boolean => {
    let told = false;
    sortLong(
      compare,
      (watched) => array.toSorted(watched as () => number),
      () => (told = true),
    );
    return told;
  };
  const mixed = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
  const sorted = mixed.toSorted((a, b) => a - b);
  const order: Compare = (a, b) => Number(a) - Number(b);
  it("accepts a consistent comparator for any order of the elements", () => {
    for (const array of [mixed, sorted, sorted.toReversed(), mixed.map(() => 1)]) {
      assert.equal(isUnequal(array, order), false);
    }
  });
  it("reports a comparator whose result depends on the algorithm", () => {
    const wrong: readonly Compare[] = [
      (a, b) => Number(a) > Number(b),
      (a, b) => (Number(a) > Number(b) ? 1 : 0),
      (a, b) => (Number(a) < Number(b) ? -1 : 0),
      () => 1,
      () => NaN,
      () => undefined,
    ];
    for (const compare of wrong) assert.equal(isUnequal(mixed, compare), true, String(compare));
  });
});
