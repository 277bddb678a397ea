/** Compares what a skill was granted with the tools as they are now: its ground may have moved since its approval. */

import type { CatalogSnapshot, Effect, Tool, ToolAddress } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { SkillGrant } from "./skill.ts";

/** Higher is stricter, as policy ranks them. */
const RANKS: Readonly<Record<Effect, number>> = { read: 0, write: 1, unknown: 2, destroy: 3 };

export function findTool({ tools, hidden }: CatalogSnapshot, address: ToolAddress): Tool | undefined {
  return tools.get(address) ?? hidden?.get(address);
}

/**
 * Says what moved, as the end of a sentence; `undefined` if nothing did. A server that has not listed its tools yet says
 * nothing about them.
 */
export function findMoved(grants: readonly SkillGrant[], snapshot: CatalogSnapshot): string | undefined {
  for (const grant of grants) {
    const { address } = grant;
    const problem = describeMove(grant, snapshot);
    if (problem !== undefined) return `${address} ${problem}`;
  }
  return undefined;
}

function describeMove(grant: SkillGrant, snapshot: CatalogSnapshot): string | undefined {
  const { address } = grant;
  const now = findTool(snapshot, address);
  if (now) return isGranted(now, grant) ? undefined : "is not the tool that was approved: its definition changed";
  if (snapshot.withheld?.has(address)) return "is withheld: its definition changed since the approval";
  if (snapshot.refused?.has(address)) return "is a skill that cannot be called";
  const server = snapshot.namespaces.find(({ name }) => address.startsWith(`${name}.`));
  if (!server) return "is gone: its server is not configured";
  return server.tools.length === 0 ? undefined : "is gone: its server no longer offers it";
}

/** A name is not enough: another server could have it now. */
function isGranted({ origin, digest }: Tool, { connector, remoteName, definition }: SkillGrant): boolean {
  return origin.connector === connector && origin.remoteName === remoteName && digest === definition;
}

/** What the snapshot offers to a skill: the granted tools that are still the same, and nothing else. */
export function restrictSnapshot(snapshot: CatalogSnapshot, grants: readonly SkillGrant[]): CatalogSnapshot {
  const byAddress = new Map(grants.map((grant) => [grant.address, grant]));
  const isOwn = (tool: Tool): boolean => {
    const grant = byAddress.get(tool.address);
    return grant !== undefined && isGranted(tool, grant);
  };
  const keep = (tools: ReadonlyMap<ToolAddress, Tool> = new Map()): ReadonlyMap<ToolAddress, Tool> =>
    new Map([...tools].filter(([, tool]) => isOwn(tool)));
  const tools = keep(snapshot.tools);
  const namespaces = snapshot.namespaces.flatMap((namespace) => {
    const own = namespace.tools.filter((name) => [...tools.keys()].some((one) => one === `${namespace.name}.${name}`));
    const isNamed = grants.some(({ address }) => address.startsWith(`${namespace.name}.`));
    return isNamed ? [{ ...namespace, tools: own }] : [];
  });
  const { takenAt, refused = new Map(), withheld = new Map() } = snapshot;
  const digest = digestOf([snapshot.digest, ...grants.map(({ address }) => address)]);
  const ofGrants = <Value>(all: ReadonlyMap<ToolAddress, Value>) =>
    new Map([...all].filter(([address]) => byAddress.has(address)));
  const rest = { hidden: keep(snapshot.hidden), refused: ofGrants(refused), withheld: ofGrants(withheld) };
  return { digest, takenAt, tools, namespaces, ...rest };
}

/** A skill may do what the strictest of its tools does. */
export function strictestEffect(
  grants: readonly SkillGrant[],
  snapshot: CatalogSnapshot,
  least: Effect = "read",
): Effect {
  const effects = grants.map(({ address, effect }) => findTool(snapshot, address)?.effect ?? effect);
  return effects.reduce<Effect>((most, effect) => (RANKS[effect] > RANKS[most] ? effect : most), least);
}
