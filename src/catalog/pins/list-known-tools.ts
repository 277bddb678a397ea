/** The tools that the store knows, without starting a server: those that were accepted and those that are withheld. */

import { defined } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { nameNamespaces, nameTools, toPlainName } from "../name-tools.ts";
import { namePins, namesOf } from "./read-pins.ts";

export interface KnownTool {
  readonly address: string;
  readonly server: string;
  readonly remoteName: string;
  readonly plainName?: string;
}

/** `unlisted` are both names of each server that never listed a tool. */
export async function listKnownTools(
  store: Pick<Store["pins"], "list" | "held">,
  servers: Iterable<string>,
): Promise<{ readonly tools: readonly KnownTool[]; readonly unlisted: readonly string[] }> {
  const [pinned, held] = await Promise.all([store.list(), store.held()]);
  const tools: KnownTool[] = [];
  const unlisted: string[] = [];
  for (const [server, namespace] of nameNamespaces(servers)) {
    const own = pinned.filter(({ connector }) => connector === server);
    const all = [...own, ...held.filter(({ connector }) => connector === server)];
    if (all.length === 0) unlisted.push(server, namespace);
    const names = nameTools(
      all.map(({ remoteName }) => remoteName),
      namesOf(namePins(own)),
    );
    for (const [remoteName, name] of names) {
      const plain = toPlainName(remoteName);
      const plainName = plain === name ? undefined : plain;
      tools.push({ address: `${namespace}.${name}`, server, remoteName, ...defined({ plainName }) });
    }
  }
  return { tools, unlisted };
}
