/** The pattern language for tools. It is small, so that an operator can predict every match. */

const EVERYTHING = "*";
const WHOLE_NAMESPACE = ".*";

/**
 * `*` matches every tool, `github.*` one namespace, `github.createIssue` one tool. Nothing else is a pattern.
 * The dot is part of the comparison, so `git.*` does not match tools of `github`.
 */
export function matchesTool(pattern: string, address: string): boolean {
  if (pattern === EVERYTHING) return true;
  return pattern.endsWith(WHOLE_NAMESPACE) ? address.startsWith(pattern.slice(0, -1)) : pattern === address;
}
