/** What a tool does to the world, as far as its server says. A server can lie, so policy treats it as a hint. */

import type { RemoteTool } from "../connectors/index.ts";
import type { Effect } from "../domain/index.ts";

/**
 * `readOnly` decides first, because MCP gives `destructive` a meaning only for tools that are not read-only.
 * A server that says nothing about either leaves the effect unknown: it is not taken for harmless.
 */
export function effectOf({ readOnly, destructive }: RemoteTool["annotations"]): Effect {
  if (readOnly === true) return "read";
  if (destructive === true) return "destroy";
  return readOnly === false || destructive === false ? "write" : "unknown";
}
