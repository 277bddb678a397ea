/** The catalog as one principal sees it: with the operator's effects and without tools that are always denied. */

import { digestOf } from "../../text/index.ts";
import type {
  CatalogSnapshot,
  Effect,
  Namespace,
  PolicySettings,
  Principal,
  Tool,
  ToolAddress,
} from "../../domain/index.ts";
import { formsOf, pickByTool } from "../matches-tool.ts";
import type { ToolForms } from "../matches-tool.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { isAlwaysDenied } from "./decide.ts";

/** Hidden tools stay apart, so that a call of one is denied and recorded, not answered with TOOL_NOT_FOUND. */
export function viewSnapshot(policy: CompiledPolicy, snapshot: CatalogSnapshot, principal: Principal): CatalogSnapshot {
  const shown = new Map<ToolAddress, Tool>();
  const hidden = new Map<ToolAddress, Tool>();
  const changed: [string, Effect][] = [];
  for (const [address, plain] of snapshot.tools) {
    const tool = applyOperatorEffect(policy, plain);
    if (tool !== plain) changed.push([address, tool.effect]);
    (isAlwaysDenied(policy, tool, principal) ? hidden : shown).set(address, tool);
  }
  const { servers } = principal.access ?? {};
  const namespaces = servers
    ? snapshot.namespaces.filter(({ connector }) => servers.includes(connector))
    : snapshot.namespaces;
  const isWhole = namespaces.length === snapshot.namespaces.length;
  if (hidden.size === 0 && changed.length === 0 && isWhole) return snapshot;
  return Object.freeze({
    ...snapshot,
    // Caches use the digest of a snapshot as their key, so another view needs another digest.
    digest: digestOf([snapshot.digest, [...hidden.keys()], changed, ...(isWhole ? [] : [namespaces.length])]),
    tools: shown,
    hidden,
    namespaces: Object.freeze(namespaces.map((namespace) => viewNamespace(namespace, hidden))),
  });
}

/** Higher is stricter. */
const EFFECT_RANKS: Readonly<Record<Effect, number>> = { read: 0, write: 1, unknown: 2, destroy: 3 };

export function findOperatorEffect(
  effects: PolicySettings["effects"],
  forms: ToolForms,
  usual: Effect,
): Effect | undefined {
  return pickByTool(effects, forms, { usual, rank: (effect) => EFFECT_RANKS[effect] });
}

/** Applies the effect that the operator configured: by full name, else by namespace, else by `*`. */
export function applyOperatorEffect({ settings: { effects } }: CompiledPolicy, tool: Tool): Tool {
  if (effects.size === 0) return tool;
  const effect = findOperatorEffect(effects, formsOf(tool), tool.effect);
  return effect === undefined ? tool : Object.freeze({ ...tool, effect, effectSource: "operator" });
}

function viewNamespace(namespace: Namespace, hidden: ReadonlyMap<string, Tool>): Namespace {
  const tools = namespace.tools.filter((name) => !hidden.has(`${namespace.name}.${name}`));
  const count = namespace.tools.length - tools.length;
  if (count === 0) return namespace;
  return Object.freeze({
    ...namespace,
    summary: `${namespace.summary}; ${count} of them not shown: policy denies them`,
    tools: Object.freeze(tools),
  });
}
