/** The one shape of a refused listing. */

import { GloveboxError } from "../../domain/index.ts";

/** `what` is the plural of what was listed. */
export function invalidList(what: string, why: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The server's list of ${what} cannot be used: ${why}`, {
    hint: "The server breaks the protocol; update it or report this to its authors",
  });
}
