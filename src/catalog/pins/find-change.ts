/** Finds a changed definition that replaces an accepted one. Reads only the store. */

import type { Approval, HeldChange } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { canBeNamespace } from "../name-tools.ts";

/**
 * Returns the withheld change of the definition that an approval is about. Two servers can have equal definitions, so
 * the address decides which server is meant.
 */
export async function findChange(
  store: Pick<Store["pins"], "held" | "find">,
  { tool, definition }: Pick<Approval, "tool" | "definition">,
): Promise<HeldChange | undefined> {
  const namespace = tool.slice(0, tool.indexOf("."));
  for (const { connector, remoteName, digest, seenAt } of await store.held()) {
    if (!canBeNamespace(connector, namespace)) continue;
    const pin = await store.find(connector, remoteName);
    if (pin?.digest === definition) return { server: connector, definition: digest, seenAt };
  }
  return undefined;
}
