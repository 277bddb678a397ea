/** Describes tools, namespaces and globals by name, for `describe`. */

import { GloveboxError, describeWithheld, parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, SecretGrants, Tool, ToolAddress } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { FIXED_GLOBALS, toolsOf } from "./declare-api.ts";
import { declareWithin, sizeOf } from "./declare-within.ts";
import type { DescribeDetail } from "./declare-tool.ts";
import { toCommentText } from "./escape-text.ts";
import { HELPER_GLOBALS, NETWORK_GLOBALS, declareSecrets } from "./globals.ts";

export interface DescribeOptions {
  readonly detail: DescribeDetail;
  /** Returns the nearest existing addresses, best first. */
  readonly findNearest: (name: string) => readonly ToolAddress[];
  /** Explains why a server has no tools at the moment, with the remedy. */
  readonly explainEmpty: (connector: ConnectorId) => string;
  readonly hasNetwork?: boolean;
  readonly secrets?: SecretGrants;
  /** The most characters of the declarations, written as a JSON string. */
  readonly maxCharacters?: number;
}

export interface UnknownName {
  readonly name: string;
  readonly nearest: readonly ToolAddress[];
  /** Why the tool is withheld, and what an operator can do. */
  readonly withheld?: string;
  readonly empty?: string;
}

/** `declarations` is complete, unknown names included; the other fields repeat it as data. */
export interface Description {
  readonly declarations: string;
  readonly tools: readonly ToolAddress[];
  readonly unknown: readonly UnknownName[];
}

const MAX_NAMES = 100;
/** About 25,000 tokens, if the caller does not set less. Further tools get one line each, then none. */
export const MAX_DESCRIBED_CHARACTERS = 100_000;
const MAX_NAME_LENGTH = 260;
const MAX_HINT_LENGTH = 1000;

/** A reserved name that describes the globals of every program. */
const OWN_NAME = "glovebox";
const SHARED_GLOBALS = `${FIXED_GLOBALS}
${HELPER_GLOBALS}
/** Lines are returned with the result, in order. */
declare const console: Record<"log" | "info" | "warn" | "error" | "debug", (...values: unknown[]) => void>;
// Also available: setTimeout, URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, atob, btoa, crypto.randomUUID.`;
const RESULT = "The result is the returned value, or the value of the last expression.";

function declareOwn({ hasNetwork = false, secrets }: DescribeOptions): string {
  if (!hasNetwork) return `${SHARED_GLOBALS}\n// Not available: network, files, modules. ${RESULT}`;
  const granted = secrets && secrets.size > 0 ? [declareSecrets(secrets)] : [];
  return [SHARED_GLOBALS, NETWORK_GLOBALS, ...granted, `// Not available: files, modules. ${RESULT}`].join("\n");
}

/** A name is the address of a tool, a namespace (all of its tools), or `glovebox` (the other globals). */
export function describeTools(
  snapshot: CatalogSnapshot,
  names: readonly string[],
  options: DescribeOptions,
): Description {
  return runAtOnce(describeInSlices(snapshot, names, options));
}

/** The same with a pause after each name and each tool. */
export function* describeInSlices(
  snapshot: CatalogSnapshot,
  names: readonly string[],
  options: DescribeOptions,
): SlicedWork<Description> {
  if (names.length > MAX_NAMES) {
    throw new GloveboxError("REQUEST_INVALID", `describe takes at most ${MAX_NAMES} names, not ${names.length}`, {
      hint: "Describe a whole namespace, or use several calls",
    });
  }
  const tools = new Map<ToolAddress, Tool>();
  const unknown: UnknownName[] = [];
  const wanted = new Set(names);
  const own = wanted.delete(OWN_NAME) ? [declareOwn(options)] : [];
  for (const name of wanted) {
    const found = findTools(snapshot, name);
    for (const tool of found) tools.set(tool.address, tool);
    if (found.length === 0) unknown.push(toUnknown(snapshot, name, options));
    yield;
  }
  const { detail, maxCharacters = MAX_DESCRIBED_CHARACTERS } = options;
  const head = [...unknown.map(toHint), ...own];
  const room = Math.min(maxCharacters, MAX_DESCRIBED_CHARACTERS) - sizeOf(["", ...head]);
  const text = [...head, ...(yield* declareWithin([...tools.values()], detail, room))].join("\n");
  return { declarations: text === "" ? "" : `${text}\n`, tools: [...tools.keys()], unknown };
}

function findTools(snapshot: CatalogSnapshot, name: string): readonly Tool[] {
  const namespace = snapshot.namespaces.find((one) => one.name === name);
  if (namespace) return toolsOf(snapshot, namespace);
  const address = parseToolAddress(name);
  const tool = address && snapshot.tools.get(address);
  return tool ? [tool] : [];
}

function toUnknown(
  snapshot: CatalogSnapshot,
  name: string,
  { findNearest, explainEmpty }: DescribeOptions,
): UnknownName {
  const shown = toCommentText(name, MAX_NAME_LENGTH);
  const address = parseToolAddress(name);
  const held = address && snapshot.withheld?.get(address);
  if (held) {
    const { message, hint } = describeWithheld(held);
    return { name: shown, nearest: [], withheld: toCommentText(`${message}. ${hint}`, MAX_HINT_LENGTH) };
  }
  const namespace = snapshot.namespaces.find((one) => name === one.name || name.startsWith(`${one.name}.`));
  if (!namespace || toolsOf(snapshot, namespace).length > 0) return { name: shown, nearest: findNearest(name) };
  return { name: shown, nearest: [], empty: toCommentText(explainEmpty(namespace.connector), MAX_HINT_LENGTH) };
}

function toHint({ name, nearest, withheld, empty }: UnknownName): string {
  if (withheld !== undefined) return `// ${withheld}`;
  if (empty !== undefined) return `// ${empty}`;
  const remedy = nearest.length === 0 ? "Use search to find tools" : `Did you mean ${nearest.join(", ")}?`;
  return `// Unknown name ${JSON.stringify(name)}. ${remedy}`;
}
