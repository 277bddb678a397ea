/** A value that the tracer follows: a namespace, or a list or record that holds one. */

import type { AnyNode } from "acorn";

/** Holds one namespace; an expression may have several traced values. */
export type TracedValue =
  | { readonly kind: "namespace"; readonly name: string }
  /** An array. `at` is the index of the item, if the source fixes it; `from` is the node that created the array. */
  | { readonly kind: "list"; readonly item: TracedValue; readonly at: number | undefined; readonly from?: AnyNode }
  /** An object without methods. */
  | { readonly kind: "record"; readonly key: string; readonly value: TracedValue };

/** A key: two values with the same key are followed once. */
export function textOf(held: TracedValue): string {
  switch (held.kind) {
    case "namespace":
      return held.name;
    case "list":
      return `[${held.at ?? ""} ${held.from?.start ?? ""} ${textOf(held.item)}]`;
    case "record":
      return `{${JSON.stringify(held.key)} ${textOf(held.value)}}`;
    default:
      return held satisfies never;
  }
}

/** The number of containers around the namespace. */
export function depthOf(held: TracedValue): number {
  if (held.kind === "namespace") return 0;
  return 1 + depthOf(held.kind === "list" ? held.item : held.value);
}

/** The innermost namespace. */
export function namespaceOf(held: TracedValue): string {
  if (held.kind === "namespace") return held.name;
  return namespaceOf(held.kind === "list" ? held.item : held.value);
}
