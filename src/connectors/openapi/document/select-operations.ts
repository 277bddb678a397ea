/** Which operations of a document are offered. */

import { matchesName } from "../../network-policies.ts";
import type { Operation } from "../operation.ts";

/**
 * A pattern with a space is matched against method and path, as in `GET /pets/*`; any other against the name, as in the
 * document or as in programs. `*` matches any characters; case is ignored.
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

/** Patterns that match no operation: probably misspelled, so what they should exclude is offered. */
export function findUnfit(operations: readonly Operation[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !operations.some((operation) => matchesOperation(pattern, operation)));
}

/** Also used by other settings that name operations. */
export function matchesOperation(pattern: string, { name, method, path }: Operation): boolean {
  const texts = pattern.includes(" ") ? [`${method} ${path}`] : [name, toShownName(name)];
  return texts.some((text) => matchesName(pattern, text));
}

/** `issues/list-for-repo` is `issuesListForRepo` in programs: the name without its separators, ignoring case. */
function toShownName(name: string): string {
  return name.normalize("NFKC").replace(/[^A-Za-z0-9]+/g, "");
}
