/** Shortens a string to a number of bytes, with a note about the missing part. */

/** The note counts towards `maxBytes`. Never splits a character. */
export function capText(text: string, maxBytes: number, remedy = "return or print less to see all of it"): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const note = `\n[shortened: this text has ${bytes} bytes; ${remedy}]`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + note;
}
