/** What a plan follows through a program: a namespace, or a list or record literal that holds one. */

import type { AnyNode } from "acorn";

/** A value that leads to tools. Each holds one thing; an expression may stand for several of them. */
export type TracedValue =
  | { readonly kind: "namespace"; readonly name: string }
  /** An array. `at` is the place of what it holds, where the text fixes it; `from` is where the array was made. */
  | { readonly kind: "list"; readonly item: TracedValue; readonly at: number | undefined; readonly from?: AnyNode }
  /** An object without methods. */
  | { readonly kind: "record"; readonly key: string; readonly value: TracedValue };

/** Two values with the same text are followed once. */
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

/** How many containers are around the namespace. */
export function depthOf(held: TracedValue): number {
  if (held.kind === "namespace") return 0;
  return 1 + depthOf(held.kind === "list" ? held.item : held.value);
}

/** The namespace in the middle. */
export function namespaceOf(held: TracedValue): string {
  if (held.kind === "namespace") return held.name;
  return namespaceOf(held.kind === "list" ? held.item : held.value);
}
