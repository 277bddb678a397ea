/** The shape of a setting that is a whole number. */

import { z } from "zod";

/** With its range, the value it has when left out, and what it is for. */
export function whole(
  bounds: { readonly min: number; readonly max: number; readonly usual: number },
  description: string,
) {
  return z.int().min(bounds.min).max(bounds.max).default(bounds.usual).meta({ description });
}
