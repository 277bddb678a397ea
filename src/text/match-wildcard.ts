/** Patterns in which `*` stands for any number of characters. */

/**
 * Each piece between stars is searched after the one before it, so the time is linear in the text for each piece. A
 * pattern may be split at its stars already.
 */
export function matchWildcard(pattern: string | readonly string[], text: string): boolean {
  const [first = "", ...rest] = typeof pattern === "string" ? pattern.split("*") : pattern;
  const last = rest.pop();
  if (last === undefined) return text === first;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
