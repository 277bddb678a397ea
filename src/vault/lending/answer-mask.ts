/**
 * Takes values that were lent to programs out of what hosts answer. A host that got a value may send it back, at once
 * or to a later program, so every answer to every program is searched, and in more disguises than other texts are.
 */

import { isUtf8 } from "node:buffer";

import { createMask } from "../mask.ts";
import type { Hide } from "../mask.ts";

/** It only ever learns. */
export interface AnswerMask {
  readonly add: (secret: string) => void;
  readonly hideText: Hide;
  /** The same bytes where there is nothing to hide. */
  readonly hideBytes: (bytes: Uint8Array) => Uint8Array;
}

/** Knows each secret as it is, reversed, and in letters of one case, each of these in every form of a text. */
export function createAnswerMask(): AnswerMask {
  const texts = createMask();
  const bytes = createMask();
  const hideText: Hide = (text) => hideEscaped(texts.hide(text), texts.hide);
  return {
    add(secret) {
      const reversed = Array.from(secret).toReversed().join("");
      for (const disguise of new Set([secret, reversed, secret.toUpperCase(), secret.toLowerCase()])) {
        texts.add(disguise);
        bytes.add(disguise);
        bytes.add(Buffer.from(disguise).toString("latin1"));
      }
    },
    hideText,
    hideBytes: (given) => {
      const whole = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      const [encoding, hide] = isUtf8(whole) ? (["utf8", hideText] as const) : (["latin1", bytes.hide] as const);
      const text = whole.toString(encoding);
      const hidden = hide(text);
      return hidden === text ? given : Buffer.from(hidden, encoding);
    },
  };
}

/** Ways to write a plain character that need not be written so: in JSON and in HTML. */
const ESCAPES: readonly { readonly match: RegExp; readonly toCode: (digits: string) => number }[] = [
  { match: /\\u00([2-7][0-9a-f])/gi, toCode: (digits) => Number.parseInt(digits, 16) },
  { match: /&#0*(\d{2,3});/g, toCode: Number },
  { match: /&#x0*([2-7][0-9a-f]);/gi, toCode: (digits) => Number.parseInt(digits, 16) },
];

/** Where a secret shows once the needless escapes are gone, the text stays without them. */
function hideEscaped(text: string, hide: Hide): string {
  return ESCAPES.reduce((shown, { match, toCode }) => {
    const plain = shown.replaceAll(match, (escape: string, digits: string) => toPlain(toCode(digits)) ?? escape);
    if (plain === shown) return shown;
    const hidden = hide(plain);
    return hidden === plain ? shown : hidden;
  }, text);
}

/** A quote stays escaped, as JSON needs it. */
function toPlain(code: number): string | undefined {
  if (code < 0x20 || code > 0x7e) return undefined;
  const sign = String.fromCharCode(code);
  return sign === '"' || sign === "\\" ? `\\${sign}` : sign;
}
