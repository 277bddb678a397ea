/** How a child ends a program that nothing can wake up. */

import type { ThrownMessage } from "../wire.ts";

/** It waits, and the host has no answer and no tick to give. */
export const STUCK: ThrownMessage = {
  kind: "stuck",
  name: "Error",
  message: "The program waits for a promise that nothing can settle",
  stack: "",
};
