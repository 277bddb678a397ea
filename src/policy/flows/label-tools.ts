/**
 * Gives tools their labels: from the catalogue of well-known servers, from annotations, then as the operator says.
 * Catalogue and annotations only add. A server that calls itself or its tools harmless takes no label away.
 */

import type { ConnectorId, Label, LabelRule, Labeler, ToolAddress } from "../../domain/index.ts";
import { matchesTool } from "../matches-tool.ts";
import { findServer } from "./find-server.ts";
import type { ServerPlace } from "./find-server.ts";
import type { KnownServer } from "./known-servers.ts";

/** In the order in which they are shown. */
export const LABELS: readonly Label[] = Object.freeze(["private", "untrusted", "external"]);

export interface LabelerOptions {
  /** Where each upstream is. */
  readonly places: ReadonlyMap<ConnectorId, ServerPlace>;
  readonly rules: readonly LabelRule[];
}

/** Of a server's resources and prompts these are names only, as a list of tools is. */
const LISTS = ["resources/list", "prompts/list"];
const OPEN_WORLD: readonly Label[] = ["untrusted", "external"];

/** It gives the labels of a tool in the order of `LABELS`; the same question has the same answer. */
export function createLabeler({ places, rules }: LabelerOptions): Labeler {
  const servers = new Map([...places].map(([id, place]) => [id, { place, server: findServer(place) }]));
  return (question) => {
    const labels = new Set<Label>(question.openWorld ? OPEN_WORLD : []);
    const { place, server } = servers.get(question.connector) ?? {};
    const known = place?.kind === "api" ? apiLabels(server, question) : serverLabels(server, question);
    for (const label of known) labels.add(label);
    return applyLabelRules(rules, question.address, [...labels]);
  };
}

/** The labels as the operator's rules leave them, in the order of `LABELS`. */
export function applyLabelRules(
  rules: readonly LabelRule[],
  address: ToolAddress,
  before: readonly Label[],
): readonly Label[] {
  const labels = new Set(before);
  for (const rule of rules.filter(({ tools }) => tools.some((one) => matchesTool(one, address)))) {
    for (const label of rule.add) labels.add(label);
    for (const label of rule.remove) labels.delete(label);
  }
  return LABELS.filter((label) => labels.has(label));
}

/**
 * A tool that the catalogue does not know has every label that its server's tools can have. So has what reads a
 * resource or a prompt: the address and the arguments that it is asked with leave as those of a tool do.
 */
function serverLabels(
  server: KnownServer | undefined,
  { remoteName, synthetic }: Parameters<Labeler>[0],
): readonly Label[] {
  if (!server) return [];
  if (synthetic) return LISTS.includes(remoteName) ? [] : server.usual;
  const found = server.tools.find(([patterns]) => patterns.some((pattern) => matchesName(pattern, remoteName)));
  return found ? found[1] : server.usual;
}

/**
 * Operations have names that the catalogue does not know. What reads does not send, except where all tools are alike:
 * the question to a search is what leaves.
 */
function apiLabels(server: KnownServer | undefined, { effect }: Parameters<Labeler>[0]): readonly Label[] {
  if (!server) return [];
  return effect === "read" && server.tools.length > 0 ? withoutExternal(server) : server.usual;
}

function withoutExternal({ usual }: KnownServer): readonly Label[] {
  return usual.filter((label) => label !== "external");
}

/** `*` stands for any characters. Separators and capitals make no difference: the same tool is written in many ways. */
function matchesName(pattern: string, name: string): boolean {
  const parts = toPlainName(pattern).split("*");
  const [first = "", ...rest] = parts;
  const text = toPlainName(name);
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return text.length - last.length >= at && text.endsWith(last);
}

function toPlainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, "");
}
