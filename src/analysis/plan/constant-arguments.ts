/** The arguments of a tool that are the same wherever a program calls it, whatever it reads. */

import { canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { CallPlan, JsonObject, ToolCall } from "../../domain/index.ts";

import { MAX_LISTED } from "./plan-calls.ts";

/**
 * Returns the names of those arguments of a call that the plan proves to be constants: every place that can make the
 * call has the same literal. Empty without an exact plan.
 */
export function findConstantArguments(
  plan: CallPlan | undefined,
  { address, args }: Pick<ToolCall, "address" | "args">,
): ReadonlySet<string> {
  const planned = plan?.exact ? plan.calls.find(({ tool }) => tool === address) : undefined;
  const sites = planned?.args ?? [];
  const isComplete = planned?.access === "literal" && sites.length === planned.at.length && sites.length < MAX_LISTED;
  if (!isComplete || !isJsonObject(args)) return new Set();
  const isSame = (name: string, site: JsonObject): boolean =>
    Object.hasOwn(site, name) && canonicalJson(site[name] ?? null) === canonicalJson(args[name] ?? null);
  return new Set(Object.keys(args).filter((name) => sites.every((site) => isSame(name, site))));
}
