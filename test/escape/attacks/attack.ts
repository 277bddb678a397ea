/** One additional attack: a program and the only ending that it may have. */

import type { Json } from "../../../src/domain/index.ts";

export interface Attack {
  /** What the program tries, as the end of the sentence "a program cannot …". */
  readonly cannot: string;
  readonly code: string;
  /**
   * `value` is the whole result. `codes` are the limits that may end it, or "threw" for any error. `threw` matches the
   * message of its error.
   */
  readonly expect:
    | { readonly kind: "value"; readonly value: Json | undefined }
    | { readonly kind: "codes"; readonly codes: readonly string[] }
    | { readonly kind: "threw"; readonly threw: RegExp };
}

/** An attack that runs to its end and returns this. */
export function returnsValue(value: Json | undefined): Attack["expect"] {
  return { kind: "value", value };
}

/** An attack that one of these limits ends; "threw" if the engine may refuse first. */
export function endsWith(...codes: readonly string[]): Attack["expect"] {
  return { kind: "codes", codes };
}

/** An attack that ends with an error of its own realm. */
export function throwsMatching(threw: RegExp): Attack["expect"] {
  return { kind: "threw", threw };
}
