/** Takes known secrets out of texts. Whoever lends a secret tells the mask; whatever leaves goes through it. */

import { cleanText } from "../text/index.ts";
import { formsOf } from "./secret-forms.ts";

const SHOWN = "[secret]";
/** Shorter values would be found in ordinary words. */
const SHORTEST = 8;

/** Replaces every known secret, in every form of `formsOf`, by `[secret]`. */
export type Hide = (text: string) => string;

/** It only ever learns: a secret that was replaced may still be valid somewhere. */
export interface Mask {
  readonly add: (secret: string) => void;
  readonly hide: Hide;
}

/** `shortest` is the length from which on a secret is looked for. */
export function createMask({ shortest = SHORTEST }: { readonly shortest?: number } = {}): Mask {
  const known = new Set<string>();
  let forms: readonly string[] = [];
  return {
    add(secret) {
      if (secret.length < shortest || known.has(secret)) return;
      known.add(secret);
      const all = [...new Set([...forms, ...formsOf(secret)])].filter((form) => form.length >= shortest);
      // Longest first, so that a part of a value is not replaced before the whole.
      forms = all.toSorted((a, b) => b.length - a.length);
    },
    hide: (text) => hideForms(text, forms),
  };
}

/**
 * Whoever cleans the text later must not put a secret together: where one shows without escapes and invisible
 * characters, the text stays without them.
 */
function hideForms(text: string, forms: readonly string[]): string {
  if (forms.length === 0) return text;
  const shown = forms.reduce(hideForm, text);
  const visible = cleanText(shown, { maxBytes: Number.MAX_SAFE_INTEGER });
  if (visible === shown) return shown;
  const hidden = forms.reduce(hideForm, visible);
  return hidden === visible ? shown : hidden;
}

function hideForm(text: string, form: string): string {
  return text.length < form.length ? text : text.replaceAll(form, SHOWN);
}
