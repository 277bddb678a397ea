/** Makes text of an upstream short and clean enough to be shown. */

const encoder = new TextEncoder();

/** Removes what must not reach a terminal, a log or a model: escapes, invisible characters, secret values. */
export type Clean = (text: string) => string;

/** The beginning of `text` that fits into `maxBytes` of UTF-8, never ending inside a character. */
export function capText(text: string, maxBytes: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : text.slice(0, read);
}

/**
 * Cleans and caps. It cuts generously before cleaning, so that a hostile text of many megabytes costs no time, and
 * exactly afterwards.
 */
export function toShownText(text: string, clean: Clean, maxBytes: number): string {
  return capText(clean(capText(text, maxBytes * 4)), maxBytes);
}
