/** Removes known secrets from text. Code that lends a secret adds it; all text that leaves the gateway passes through. */

import { cleanText } from "../text/index.ts";
import { formsOf } from "./secret-forms.ts";

const SHOWN = "[secret]";
/** Shorter values occur in ordinary words. */
const SHORTEST = 8;

/** Replaces every known secret, in every form of `formsOf`, by `[secret]`. */
export type Hide = (text: string) => string;

/** Never forgets: a secret that was replaced may still be valid somewhere. */
export interface Mask {
  readonly add: (secret: string) => void;
  readonly hide: Hide;
}

/** Ignores secrets that have less than `shortest` characters. */
export function createMask({ shortest = SHORTEST }: { readonly shortest?: number } = {}): Mask {
  const known = new Set<string>();
  let forms: readonly string[] = [];
  return {
    add(secret) {
      if (secret.length < shortest || known.has(secret)) return;
      known.add(secret);
      const all = [...new Set([...forms, ...formsOf(secret)])].filter((form) => form.length >= shortest);
      // Longest first, so that a part of a value is not replaced before the whole value.
      forms = all.toSorted((a, b) => b.length - a.length);
    },
    hide: (text) => hideForms(text, forms),
  };
}

/**
 * Cleaning the text later must not reassemble a secret. If one appears once escapes and invisible characters are
 * removed, the result is the cleaned text.
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
