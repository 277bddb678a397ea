/** Which operations of a document an operator wants. */

import { matchesName } from "../../network-policies.ts";
import type { Operation } from "../operation.ts";

/**
 * A pattern with a space is matched against method and path, as in `GET /pets/*`; any other against the name, as the
 * document writes it or as programs do. `*` stands for any text; case makes no difference.
 */
export function selectOperations(
  operations: readonly Operation[],
  include: readonly string[],
  exclude: readonly string[],
): readonly Operation[] {
  return operations.filter(
    (operation) =>
      (include.length === 0 || include.some((pattern) => matchesOperation(pattern, operation))) &&
      !exclude.some((pattern) => matchesOperation(pattern, operation)),
  );
}

/** The patterns that fit none of the operations: likely misspelt, and what they were to keep out is offered. */
export function findUnfit(operations: readonly Operation[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !operations.some((operation) => matchesOperation(pattern, operation)));
}

/** Also for other settings that name operations. */
export function matchesOperation(pattern: string, { name, method, path }: Operation): boolean {
  const texts = pattern.includes(" ") ? [`${method} ${path}`] : [name, toShownName(name)];
  return texts.some((text) => matchesName(pattern, text));
}

/** `issues/list-for-repo` is `issuesListForRepo` to programs; but for case, that is the name without its separators. */
function toShownName(name: string): string {
  return name.normalize("NFKC").replace(/[^A-Za-z0-9]+/g, "");
}
