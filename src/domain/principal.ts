/** The identity behind a request. */

import type { PrincipalId } from "./ids.ts";

/** Made by a surface from a verified credential; never built from request data. */
export interface Principal {
  readonly id: PrincipalId;
  readonly kind: "agent" | "operator" | "service";
  readonly groups: readonly string[];
  /** The client's session. Labels belong to a session; without one, all requests of the principal share them. */
  readonly session?: string;
}
