/** The call plan of a program: the tools that it can call, known before it runs. */

import type { CallPlan, CatalogSnapshot, ToolAddress } from "../../domain/index.ts";
import type { CallSite } from "./call-context.ts";
import { parseToolAddress } from "../../domain/index.ts";

/** Of the places of a tool, so many are listed. */
export const MAX_LISTED = 20;

/** Sorted by tool. A site that may reach a whole namespace counts for each of its tools. */
export function planCalls(
  sites: readonly CallSite[],
  snapshot: Pick<CatalogSnapshot, "tools" | "namespaces">,
  startCount = 0,
): CallPlan {
  const start = toStart(sites.slice(0, startCount));
  const reached = sites.flatMap((site) => addressesOf(site, snapshot).map((tool) => ({ tool, site })));
  const calls = [...Map.groupBy(reached, ({ tool }) => tool)].map(([tool, group]) =>
    toCall(
      tool,
      group.map(({ site }) => site),
      snapshot,
    ),
  );
  return {
    exact: sites.every(({ address, namespace }) => address !== "dynamic" || namespace !== undefined),
    calls: calls.toSorted((a, b) => (a.tool < b.tool ? -1 : 1)),
    ...(start && { start }),
  };
}

/** Sites are sorted by position. Returns `undefined` if one of them is not what it seems. */
function toStart(sites: readonly CallSite[]): CallPlan["start"] {
  const start = sites.flatMap(({ address, computed, times, when, args = {} }) =>
    address === "dynamic" || computed || times !== "once" || when !== "always" ? [] : [{ tool: address, args }],
  );
  return start.length === sites.length && start.length > 1 ? start : undefined;
}

function addressesOf(
  { address, namespace }: CallSite,
  snapshot: Pick<CatalogSnapshot, "namespaces">,
): readonly ToolAddress[] {
  if (address !== "dynamic") return [address];
  const tools = snapshot.namespaces.find(({ name }) => name === namespace)?.tools ?? [];
  return tools.flatMap((tool) => parseToolAddress(`${namespace}.${tool}`) ?? []);
}

function toCall(
  tool: ToolAddress,
  sites: readonly CallSite[],
  { tools }: Pick<CatalogSnapshot, "tools">,
): CallPlan["calls"][number] {
  const args = sites.flatMap((site) => (site.args ? [site.args] : []));
  return {
    tool,
    effect: tools.get(tool)?.effect ?? "unknown",
    access: sites.every(({ address, computed }) => address !== "dynamic" && !computed) ? "literal" : "computed",
    times: sites.length === 1 && sites[0]?.times === "once" ? "once" : "many",
    when: sites.some(({ when }) => when === "always") ? "always" : "maybe",
    ...(args.length > 0 && { args: args.slice(0, MAX_LISTED) }),
    at: sites.slice(0, MAX_LISTED).map(({ line, column }) => ({ line, column })),
  };
}
