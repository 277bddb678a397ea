/** The pattern language of policy rules, kept so small that an operator can predict every match. */

const EVERYTHING = "*";
const WHOLE_NAMESPACE = ".*";

/**
 * `*` matches everything, `github.*` one namespace, `github.createIssue` one tool. Nothing else is a pattern.
 * The dot is part of the comparison, so `git.*` does not reach into `github`.
 */
export function matchesTool(pattern: string, address: string): boolean {
  if (pattern === EVERYTHING) return true;
  return pattern.endsWith(WHOLE_NAMESPACE) ? address.startsWith(pattern.slice(0, -1)) : pattern === address;
}
