/** Which operations of a document an operator wants. */

import type { Operation } from "./operation.ts";

/**
 * A pattern with a space is matched against method and path, as in `GET /pets/*`; any other against the name.
 * `*` stands for any text; case makes no difference.
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

function matchesOperation(pattern: string, { name, method, path }: Operation): boolean {
  return matchesText(pattern.toLowerCase(), (pattern.includes(" ") ? `${method} ${path}` : name).toLowerCase());
}

/** Each piece between stars is looked for behind the one before it, so no pattern takes long. */
function matchesText(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let position = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return position <= text.length - last.length;
}
