/** Tool patterns of the settings that match no known tool, for the commands that report them. */

import { toFetchTool } from "../builtins/index.ts";
import type { Settings } from "../config/index.ts";
import type { Principal } from "../domain/index.ts";
import { findIdlePatterns } from "../policy/index.ts";
import type { Gateway } from "./gateway.ts";

type SettingsWithPatterns = Parameters<typeof findIdlePatterns>[0];
type ToolList = Parameters<typeof findIdlePatterns>[1];
type NamedTool = ToolList["tools"][number];
type UnusedPattern = ReturnType<typeof findIdlePatterns>[number];

export const IDLE_HINT = "Compare the spelling with `glovebox tools`; a server may have renamed or removed the tool";

/** Asks the catalog, by default once every server is ready. A server that did not list its tools yet is not judged. */
export async function findIdleInCatalog(
  settings: SettingsWithPatterns,
  gateway: Pick<Gateway, "takeSnapshot">,
  principal: Principal,
  needed?: Parameters<Gateway["takeSnapshot"]>[1],
): Promise<readonly UnusedPattern[]> {
  const { tools, hidden, withheld, namespaces } = await gateway.takeSnapshot(principal, needed);
  const offered = [...tools.values(), ...(hidden?.values() ?? []), toFetchTool({})];
  const waiting = [...(withheld?.values() ?? [])];
  const known = [
    ...offered.map(({ address, origin, plainName }): NamedTool => {
      return { address, server: origin.connector, remoteName: origin.remoteName, plainName };
    }),
    ...waiting.map(({ address, connector: server, remoteName }): NamedTool => ({ address, server, remoteName })),
  ];
  const listed = new Set(known.map(({ server }) => server));
  const unlisted = namespaces.filter(({ connector }) => !listed.has(connector));
  return findIdlePatterns(settings, {
    tools: known,
    unlisted: unlisted.flatMap(({ name, connector }) => [name, connector]),
  });
}

/** Asks the store, for commands that start no upstream. The names of adapters are unknown before they are loaded. */
export function findIdleInStore(
  settings: SettingsWithPatterns & Pick<Settings, "adapters">,
  known: ToolList,
): readonly UnusedPattern[] {
  const { address, origin } = toFetchTool({});
  const own: NamedTool = { address, server: origin.connector, remoteName: origin.remoteName };
  const idle = findIdlePatterns(settings, { ...known, tools: [...known.tools, own] });
  if (settings.adapters.length === 0) return idle;
  const servers = new Set(known.tools.flatMap((tool) => [tool.server, tool.address.split(".")[0]]));
  return idle.filter(({ pattern }) => servers.has(pattern.slice(0, pattern.lastIndexOf("."))));
}

export function formatIdle({ setting, pattern }: UnusedPattern): string {
  return `${setting}: ${JSON.stringify(pattern)} matches no known tool`;
}
