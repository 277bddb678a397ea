/** The beginning of arguments or a result, as the ledger may keep it. */

import { cleanText } from "../text/index.ts";

const PREVIEW_BYTES = 512;

/** Secrets are hidden before the text is cut, so that no part of one remains. */
export function createPreview(hide: (text: string) => string): (text: string) => string {
  return (text) => cleanText(text, { maxBytes: PREVIEW_BYTES, hide });
}
