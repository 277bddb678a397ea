/** Text of servers enters declarations only as a quoted literal or a comment, on one line, so it cannot inject one. */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Characters that a terminal, an editor or the compiler may not treat as visible characters. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a string literal with exactly this value; invisible characters are escaped. */
export function quote(text: string): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(INVISIBLE, (found) => found.replace(/[^]/g, escape));
}

export function toKey(name: string): string {
  return IDENTIFIER.test(name) ? name : quote(name);
}

/**
 * Returns text for the inside of a comment. Tags are shown as plain text, because they would look like instructions. The
 * comment cannot be ended or left by a line break, and `@ts-ignore` and similar directives are disabled.
 */
export function toCommentText(text: string, maxLength: number): string {
  const visible = text
    .slice(0, maxLength * 4)
    .replace(INVISIBLE, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const short =
    visible.length > maxLength ? `${visible.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…` : visible;
  const plain = short.replaceAll(/<([/!?]?[A-Za-z-][^<>]*)>/g, "[$1]");
  return plain.replaceAll("*/", "*\\/").replace(/@(?=ts-)/gi, "@ ");
}
