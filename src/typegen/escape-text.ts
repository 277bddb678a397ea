/**
 * The only ways for a server's words into generated text: a quoted literal or a comment. Both are one line, show
 * what is invisible, and cannot end early, so no server writes a declaration of its own.
 */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Everything that a terminal, an editor or the compiler may take for something else than a visible character. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A string literal with exactly this value; invisible characters appear as escapes. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, (found) => {
    const units = Array.from({ length: found.length }, (_, at) => found.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** The name of a property as it is written in a type. */
export function toKey(name: string): string {
  return IDENTIFIER.test(name) ? name : quote(name);
}

/**
 * Text for the inside of a comment. Tags are shown as plain text, since they would look like orders. A star and a slash cannot end it, a line break cannot leave it, and
 * `@ts-ignore` and its like lose their power over the line below.
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
