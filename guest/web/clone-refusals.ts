/** Kinds of objects that carry hidden state and therefore cannot be cloned. */

import { add, createList, filter, isPrototypeOf } from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";

const refusals: List<{ readonly prototype: object; readonly name: string }> = createList();

/** Makes `structuredClone` refuse every object below this prototype. Called while the realm is set up. */
export function refuseToClone(prototype: object, name: string): void {
  add(refusals, { prototype, name });
}

/** The kind under which an object is refused, or `undefined` if it can be cloned. */
export function findRefusal(value: object): string | undefined {
  return filter(refusals, ({ prototype }) => isPrototypeOf(prototype, value))[0]?.name;
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
