/** What would change if a server listed these tools: compared with its accepted definitions. Stores nothing. */

import type { RemoteTool } from "../../connectors/index.ts";
import { defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { runInSlices } from "../../timing/index.ts";
import { parseListing, toShownName } from "../parse-listing.ts";
import type { CleanText } from "../prose.ts";
import { describeDifference } from "./describe-difference.ts";
import { findSuspicious } from "./find-suspicious.ts";

/** A tool that is not as it was accepted. All text is cleaned. */
export interface ToolChange {
  readonly tool: string;
  readonly why: "new" | "changed" | "removed";
  readonly difference: readonly string[];
  readonly suspicious?: readonly string[];
}

export async function compareTools(
  store: Pick<Store["pins"], "list" | "find">,
  {
    server,
    tools,
    clean,
  }: { readonly server: ConnectorId; readonly tools: readonly RemoteTool[]; readonly clean: CleanText },
): Promise<readonly ToolChange[]> {
  const pinned = new Map((await store.list(server)).map((pin) => [pin.remoteName, pin.digest]));
  const { tools: listed } = await runInSlices(parseListing(tools, clean));
  const changed = listed.filter(({ remoteName, digest }) => pinned.get(remoteName) !== digest);
  const changes = await Promise.all(
    changed.map(async ({ remoteName, definition }): Promise<ToolChange> => {
      const before = parseJson((await store.find(server, remoteName))?.definition ?? "null") ?? null;
      const suspicious = findSuspicious({ name: remoteName, ...definition }, clean);
      return {
        tool: toShownName(remoteName),
        why: before === null ? "new" : "changed",
        difference: describeDifference(isJsonObject(before) ? before : null, definition, clean),
        ...defined({ suspicious: suspicious.length > 0 ? suspicious : undefined }),
      };
    }),
  );
  const names = new Set(listed.map(({ remoteName }) => remoteName));
  const removed = [...pinned.keys()].filter((name) => !names.has(name));
  return [...changes, ...removed.map((name) => ({ tool: toShownName(name), why: "removed" as const, difference: [] }))];
}
