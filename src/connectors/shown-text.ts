/** Makes text from an upstream short and clean enough to be shown. */

import { capText } from "../text/index.ts";

/** Removes what must not reach a terminal, a log or a model: escapes, invisible characters, secret values. */
export type TextCleaner = (text: string) => string;

/** Cleans and cuts. A generous cut comes before the cleaning, so that a hostile text of many megabytes costs no time. */
export function toShownText(text: string, clean: TextCleaner, maxBytes: number): string {
  return capText(clean(capText(text, maxBytes * 4)), maxBytes);
}
