/**
 * Labels tools: from the list of well-known servers, then from annotations, then by the operator's rules. The list and
 * annotations only add labels, so a server cannot remove one by describing its tools as harmless. Where a review found
 * that arguments stay on this machine, annotations add none.
 */

import type { ConnectorId, Label, LabelRule, Labeler, UpstreamSettings } from "../../domain/index.ts";
import { matchWildcard } from "../../text/index.ts";
import { matchTool, toForms } from "../matches-tool.ts";
import type { ToolForms } from "../matches-tool.ts";
import { findServer, findServerPlaces } from "./find-server.ts";
import type { ServerPlace } from "./find-server.ts";
import { createEffectReview } from "./known-effects.ts";
import type { KnownServer } from "./known-servers.ts";

/** In the order in which they are shown. */
export const LABELS: readonly Label[] = Object.freeze(["private", "untrusted", "external"]);

/** These return names only, like a list of tools. */
const LISTS = ["resources/list", "prompts/list"];
const OPEN_WORLD: readonly Label[] = ["untrusted", "external"];

/** Labels are in the order of `LABELS`. Deterministic. */
export function createLabeler(
  settings: Pick<UpstreamSettings, "upstreams" | "apis">,
  rules: readonly LabelRule[],
): Labeler {
  return createPlaceLabeler({ places: findServerPlaces(settings), rules });
}

/** What the catalog needs to know about tools that their servers do not say, or say wrongly. */
export function reviewTools(
  settings: Pick<UpstreamSettings, "upstreams" | "apis"> & {
    readonly policy: { readonly labels: readonly LabelRule[] };
  },
) {
  return { labelsOf: createLabeler(settings, settings.policy.labels), effectOf: createEffectReview(settings) };
}

/** `createLabeler` for upstreams whose addresses are known. */
export function createPlaceLabeler({
  places,
  rules,
}: {
  readonly places: ReadonlyMap<ConnectorId, ServerPlace>;
  readonly rules: readonly LabelRule[];
}): Labeler {
  const servers = new Map([...places].map(([id, place]) => [id, { place, server: findServer(place) }]));
  return (tool) => {
    const { place, server } = servers.get(tool.connector) ?? {};
    const toLabels = place?.kind === "api" ? apiLabels : serverLabels;
    const known = server ? toLabels(server, tool) : [];
    const forms = toForms({ ...tool, server: tool.connector });
    const isOpen = tool.openWorld && !server?.closed?.includes(toPlainName(tool.remoteName));
    return applyLabelRules(rules, forms, isOpen ? [...OPEN_WORLD, ...known] : known);
  };
}

/** Applies the operator's rules. A doubtful match adds labels and removes none. Returns labels in the order of `LABELS`. */
export function applyLabelRules(
  rules: readonly LabelRule[],
  forms: ToolForms,
  before: readonly Label[],
): readonly Label[] {
  const labels = new Set(before);
  for (const { tools, add, remove } of rules) {
    const match = matchTool(tools, forms);
    if (match !== "no") for (const label of add) labels.add(label);
    if (match === "yes") for (const label of remove) labels.delete(label);
  }
  return LABELS.filter((label) => labels.has(label));
}

/** An unknown tool gets every label of its server; so does reading a resource or prompt, whose arguments are sent. */
function serverLabels(server: KnownServer, { remoteName, synthetic }: Parameters<Labeler>[0]): readonly Label[] {
  if (synthetic) return LISTS.includes(remoteName) ? [] : server.usual;
  const found = server.tools.find(([patterns]) => patterns.some((pattern) => matchesName(pattern, remoteName)));
  return found ? found[1] : server.usual;
}

/**
 * The names of operations are unknown, so their effect decides: a read does not send data, except for a server whose
 * tools all have the same labels, such as a search, where the query is what is sent.
 */
function apiLabels({ tools, usual }: KnownServer, { effect }: Parameters<Labeler>[0]): readonly Label[] {
  return effect === "read" && tools.length > 0 ? usual.filter((label) => label !== "external") : usual;
}

/** Ignores separators and case, because the same tool is spelled in many ways. */
function matchesName(pattern: string, name: string): boolean {
  return matchWildcard(toPlainName(pattern), toPlainName(name));
}

function toPlainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, "");
}
