/** The pattern language for tools. It is small, so that an operator can predict every match. */

const EVERYTHING = "*";
const WHOLE_NAMESPACE = ".*";

/** `*`, `github.*` or `github.createIssue`. The dot is compared too, so `git.*` does not match tools of `github`. */
export function matchesTool(pattern: string, address: string): boolean {
  if (pattern === EVERYTHING) return true;
  return pattern.endsWith(WHOLE_NAMESPACE) ? address.startsWith(pattern.slice(0, -1)) : pattern === address;
}
