/** Answers "what is this and how do I call it" for names that a model asks about. */

import { GloveboxError, parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, Tool, ToolAddress } from "../domain/index.ts";
import { toolsOf } from "./declare-api.ts";
import { declareBriefly, declareMember, declareNamespace, namespaceOf } from "./declare-tool.ts";
import type { Detail } from "./declare-tool.ts";
import { toCommentText } from "./escape-text.ts";

/** How to describe, and whom to ask about names that do not exist. */
export interface DescribeOptions {
  readonly detail: Detail;
  /** The nearest existing addresses, best first. */
  readonly findNearest: (name: string) => readonly ToolAddress[];
}

/** A name that is neither a tool nor a namespace. */
export interface UnknownName {
  readonly name: string;
  readonly nearest: readonly ToolAddress[];
}

/** `declarations` says everything, unknown names included; the rest is the same for programs to read. */
export interface Description {
  readonly declarations: string;
  readonly tools: readonly ToolAddress[];
  readonly unknown: readonly UnknownName[];
}

const MAX_NAMES = 100;
/** About 25 000 tokens: more would not be read, only paid for. Tools past it get one line each, then none. */
export const MAX_DESCRIBED_CHARACTERS = 100_000;

const MAX_NAME_LENGTH = 260;

/** A name is a tool's address or a namespace, which stands for all of its tools. */
export function describeTools(
  snapshot: CatalogSnapshot,
  names: readonly string[],
  { detail, findNearest }: DescribeOptions,
): Description {
  if (names.length > MAX_NAMES) {
    throw new GloveboxError("REQUEST_INVALID", `At most ${MAX_NAMES} names can be described at once`, {
      hint: "Ask for a whole namespace, or in several steps",
    });
  }
  const tools = new Map<ToolAddress, Tool>();
  const unknown: UnknownName[] = [];
  for (const name of new Set(names)) {
    const found = findTools(snapshot, name);
    for (const tool of found ?? []) tools.set(tool.address, tool);
    if (!found) unknown.push({ name: toCommentText(name, MAX_NAME_LENGTH), nearest: findNearest(name) });
  }
  const text = [...unknown.map(toHint), ...declareAll([...tools.values()], detail)].join("\n");
  return { declarations: text === "" ? "" : `${text}\n`, tools: [...tools.keys()], unknown };
}

function findTools(snapshot: CatalogSnapshot, name: string): readonly Tool[] | undefined {
  const namespace = snapshot.namespaces.find((one) => one.name === name);
  if (namespace) return toolsOf(snapshot, namespace);
  const address = parseToolAddress(name);
  const tool = address && snapshot.tools.get(address);
  return tool && [tool];
}

function toHint({ name, nearest }: UnknownName): string {
  const remedy = nearest.length === 0 ? "Use search to find what there is" : `Did you mean ${nearest.join(", ")}?`;
  return `// There is no ${JSON.stringify(name)}. ${remedy}`;
}

/** First whole declarations while they fit, then single lines, then only how many are missing. */
function declareAll(tools: readonly Tool[], detail: Detail): readonly string[] {
  const members = new Map<string, string[]>();
  const lines: string[] = [];
  let left = MAX_DESCRIBED_CHARACTERS;
  let missing = 0;
  for (const tool of tools) {
    const member = detail === "brief" || left < 1 ? undefined : declareMember(tool, detail);
    const isWhole = member !== undefined && member.length <= left;
    const text = isWhole ? member : declareBriefly(tool);
    left -= text.length;
    if (isWhole) members.set(namespaceOf(tool), [...(members.get(namespaceOf(tool)) ?? []), text]);
    else if (left >= 0) lines.push(text);
    else missing += 1;
  }
  const declared = [...members].map(([name, own]) => declareNamespace(name, own));
  const rest = missing === 0 ? [] : [`// ${missing} more tools are not shown; use search, then describe them by name`];
  return [...declared, ...lines, ...rest];
}
