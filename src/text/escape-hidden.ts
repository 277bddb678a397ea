/** Writes out what a reader cannot see, for people who review text of a program or a server: nothing is removed. */

/**
 * Controls, format and unassigned characters, blanks other than a plain space, fillers and variation selectors. Tabs and
 * line breaks can be seen; JSON has them only between its values.
 */
const HIDDEN = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[\t\n ]]/gv;

/** JSON in ASCII and visible characters; it parses to the same value. */
export function toPlainJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(HIDDEN, escapeUnits);
}

/** Text for a reviewer; lone surrogates become U+FFFD. */
export function toVisible(text: string): string {
  return text.toWellFormed().replaceAll(HIDDEN, escapeUnits);
}

function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** The text in parts; a hidden character is a part of its own. */
export function splitHidden(text: string): readonly { readonly text: string; readonly isHidden: boolean }[] {
  const parts: { text: string; isHidden: boolean }[] = [];
  let end = 0;
  const whole = text.toWellFormed();
  for (const { 0: character, index } of whole.matchAll(HIDDEN)) {
    if (index > end) parts.push({ text: whole.slice(end, index), isHidden: false });
    parts.push({ text: character, isHidden: true });
    end = index + character.length;
  }
  if (end < whole.length) parts.push({ text: whole.slice(end), isHidden: false });
  return parts;
}
