/** Takes text away without moving what stays: every offset, line and column after it is as before. */

/** Everything from `start` to `end` becomes spaces, line ends excepted. */
export function blank(text: string, start: number, end: number): string {
  return text.slice(0, start) + text.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, " ") + text.slice(end);
}

/** A hashbang means something only at the very start of a file, and the program is no file when it runs. */
export function blankHashbang(text: string): string {
  const start = text.search(/\S/u);
  if (start < 0 || !text.startsWith("#!", start)) return text;
  const length = text.slice(start).search(/[\n\r\u2028\u2029]/u);
  return blank(text, start, length < 0 ? text.length : start + length);
}

/** The same for many ranges at once, which must ascend: copying a long text for each of them would take too long. */
export function blankAll(text: string, ranges: readonly (readonly [from: number, to: number])[]): string {
  let [blanked, at] = ["", 0];
  for (const [from, to] of ranges) {
    blanked += text.slice(at, from) + text.slice(from, to).replace(/[^\n\r\u2028\u2029]/g, " ");
    at = to;
  }
  return blanked + text.slice(at);
}
