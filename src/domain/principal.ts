/** Who is asking. */

import type { PrincipalId } from "./ids.ts";

/** Made by a surface from a verified credential; never built from request data. */
export interface Principal {
  readonly id: PrincipalId;
  readonly kind: "agent" | "operator" | "service";
  readonly groups: readonly string[];
  /** Which session of its client asks: what one session has read counts for that session. Left out, they are all one. */
  readonly session?: string;
}
