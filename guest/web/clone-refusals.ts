/** Kinds of objects that carry hidden state and therefore cannot be cloned: to copy their properties would lie. */

import type { List } from "./intrinsics.ts";
import { add, createList, isPrototypeOf } from "./intrinsics.ts";

interface Refusal {
  readonly prototype: object;
  readonly name: string;
}

const refusals: List<Refusal> = createList();

/** Makes `structuredClone` refuse every object below this prototype. Called while the realm is set up. */
export function refuseToClone(prototype: object, name: string): void {
  add(refusals, { prototype, name });
}

/** The kind under which an object is refused, or `undefined` when nothing speaks against it. */
export function findRefusal(value: object): string | undefined {
  for (let index = 0; index < refusals.length; index += 1) {
    const refusal = refusals[index];
    if (refusal !== undefined && isPrototypeOf(refusal.prototype, value)) return refusal.name;
  }
  return undefined;
}

refuseToClone(Promise.prototype, "Promise");
refuseToClone(WeakMap.prototype, "WeakMap");
refuseToClone(WeakSet.prototype, "WeakSet");
refuseToClone(WeakRef.prototype, "WeakRef");
refuseToClone(FinalizationRegistry.prototype, "FinalizationRegistry");
refuseToClone(Symbol.prototype, "Symbol");
refuseToClone(rootPrototypeOf([][Symbol.iterator]()), "iterator");
refuseToClone(rootPrototypeOf((async function* () {})()), "async iterator");
for (const name of typeof Intl === "object" ? Object.getOwnPropertyNames(Intl) : []) {
  const member: unknown = Reflect.get(Intl, name);
  const prototype: unknown = typeof member === "function" ? member.prototype : undefined;
  if (typeof prototype === "object" && prototype !== null) refuseToClone(prototype, "Intl." + name);
}

/** The last prototype before `Object.prototype`, which all objects of the kind share. */
function rootPrototypeOf(value: object): object {
  const parent: object | null = Object.getPrototypeOf(value);
  return parent === null || parent === Object.prototype ? value : rootPrototypeOf(parent);
}
