/** From the layers around a child to the one word that people read. */

import type { ExecutionResult, IsolationLayer } from "../../domain/index.ts";

/** Strict means every layer, confined some of them, process none. */
export function toLevel(layers: readonly IsolationLayer[]): ExecutionResult["isolation"] {
  if (layers.every(({ present }) => present)) return "strict";
  return layers.some(({ present }) => present) ? "confined" : "process";
}
