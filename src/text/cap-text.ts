/** Shortens text to a number of UTF-8 bytes. */

const encoder = new TextEncoder();

/** The beginning of `text` that fits into `maxBytes` of UTF-8. Never splits a character. */
export function capText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  return read === text.length ? text : text.slice(0, read);
}
