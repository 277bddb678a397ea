/** Tells whoever knew a tool by its definition that its server says something else by now. Reads the store alone. */

import type { Approval, HeldChange } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { canBeNamespace } from "../name-tools.ts";

/**
 * What is held back in the place of the definition that a question was asked about. A definition alone does not name
 * its server: two servers may say the same, and then only the one that the address means counts.
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
