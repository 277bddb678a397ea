/** The whole typed API of a snapshot: what a program is checked against and what `describe` reads from. */

import type { ApiSurface, CatalogSnapshot, Namespace, SecretGrants, Tool, ToolAddress } from "../domain/index.ts";
import { parseToolAddress } from "../domain/index.ts";
import { declareLoosely, declareMember, declareNamespace } from "./declare-tool.ts";
import { HELPER_GLOBALS } from "./helper-globals.ts";
import { createNamedTypes } from "./types/named-types.ts";
import { NETWORK_GLOBALS } from "./network-globals.ts";
import { declareSecrets } from "./secret-globals.ts";

/** What the product itself offers to every program. Looking and reading only; each is a call and counts as one. */
export const DECLARED_GLOVEBOX = `/** Finds tools and reads results that were too large to be returned. */
declare const glovebox: {
  search(query?: string | { query?: string; server?: string; effect?: "read" | "write" | "destroy" | "unknown"; limit?: number; cursor?: string }): Promise<{ tools: { name: string; summary: string; effect: string; server: string; upstreamName: string }[]; cursor?: string }>;
  /** TypeScript declarations of tools or servers, and the shape of a handle. */
  describe(names: string | string[], detail?: "brief" | "types" | "full"): Promise<string>;
  results: {
    /** The value behind a handle, or a part: \`path\` like a.b[0], a page of items or characters, or what contains the text \`grep\`. A file is { mimeType, bytes, base64, next? }. */
    read(handle: string, options?: { path?: string; offset?: number; limit?: number; grep?: string }): Promise<any>;
  };
};`;

/** Past this much text further tools are declared without their types. */
export const MAX_API_CHARACTERS = 4 * 1024 * 1024;

const KEPT_SURFACES = 4;

/** Globals that every program has, besides ECMAScript and one namespace per server. */
export const FIXED_GLOBALS = `/** The JSON value given to \`execute\` as \`input\`. */
declare const input: any;
/** Thrown when a tool fails or a call is refused; \`code\` says why, \`retry\` whether trying again can help. */
declare class ToolError extends Error {
  private constructor();
  readonly code: string;
  readonly retry: boolean;
  readonly hint?: string;
}
${DECLARED_GLOVEBOX}`;

/** A surface, and what found no room for its types in it. */
interface Declared {
  readonly surface: ApiSurface;
  readonly loose: ReadonlySet<ToolAddress>;
}

const whole = new Map<string, Declared>();
const parts = new Map<string, Declared>();

/** What a program may be told of beside its tools, and which of them it reaches. */
export interface ApiOptions {
  /** Declares `fetch` and what belongs to it. */
  readonly hasNetwork?: boolean;
  /** What it has as `secrets`. */
  readonly secrets?: SecretGrants;
  /** Sees to it that these have their types, if need be instead of others. Asked only when some have found no room. */
  readonly reached?: () => readonly ToolAddress[];
}

/** Equal digests mean equal tools, so a surface is made once and kept for the last few snapshots. */
export function declareApi(
  snapshot: CatalogSnapshot,
  { hasNetwork = false, secrets = NO_SECRETS, reached = () => [] }: ApiOptions = {},
): ApiSurface {
  const own = [declareSecrets(secrets), ...(hasNetwork ? [NETWORK_GLOBALS] : [])];
  const key = `${snapshot.digest} ${hasNetwork} ${[...secrets.keys()].join(" ")}`;
  const globals = { own, secrets: [...secrets.keys()] };
  const all = remember(whole, key, () => createSurface(snapshot, globals));
  if (all.loose.size === 0) return all.surface;
  const wanted = new Set(reached());
  if (wanted.isDisjointFrom(all.loose)) return all.surface;
  const part = snapshot.tools.size === wanted.size ? "" : [...wanted].toSorted().join(" ");
  const { surface, loose } =
    part === "" ? all : remember(parts, `${key} ${part}`, () => createSurface(snapshot, globals, wanted));
  const missing = [...wanted].filter((tool) => loose.has(tool));
  return Object.freeze({ ...surface, ...(part !== "" && { part }), ...(missing.length > 0 && { loose: missing }) });
}

function remember(kept: Map<string, Declared>, key: string, create: () => Declared): Declared {
  const declared = kept.get(key) ?? create();
  kept.delete(key);
  kept.set(key, declared);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_SURFACES && oldest !== undefined) kept.delete(oldest);
  return declared;
}

/** What a program has besides tools, and which names of secrets are in it. */
interface OwnGlobals {
  readonly own: readonly string[];
  readonly secrets: readonly string[];
}

const NO_SECRETS: SecretGrants = new Map();

/** Namespaces with few tools have their types first, so that one large server takes none from the others. */
function createSurface(
  snapshot: CatalogSnapshot,
  { own, secrets }: OwnGlobals,
  wanted: ReadonlySet<ToolAddress> = new Set(snapshot.tools.keys()),
): Declared {
  const budget = { left: MAX_API_CHARACTERS, loose: new Set<ToolAddress>() };
  const texts = new Map<Namespace, string>();
  for (const namespace of snapshot.namespaces.toSorted((a, b) => a.tools.length - b.tools.length)) {
    texts.set(namespace, declareWithin(budget, namespace.name, { tools: toolsOf(snapshot, namespace), wanted }));
  }
  const namespaces = snapshot.namespaces.map((namespace) => texts.get(namespace) ?? "");
  const surface = Object.freeze({
    snapshot: snapshot.digest,
    declarations: `${[FIXED_GLOBALS, HELPER_GLOBALS, ...own, ...namespaces].join("\n")}\n`,
    namespaces: snapshot.namespaces,
    ...(secrets.length > 0 && { secrets }),
  });
  return { surface, loose: budget.loose };
}

interface Budget {
  left: number;
  readonly loose: Set<ToolAddress>;
}

interface Members {
  readonly tools: readonly Tool[];
  readonly wanted: ReadonlySet<ToolAddress>;
}

function declareWithin(budget: Budget, name: string, { tools, wanted }: Members): string {
  const types = createNamedTypes(name);
  let typed = 0;
  const members = tools.map((tool) => {
    const isTyped = budget.left > 0 && wanted.has(tool.address);
    if (!isTyped) budget.loose.add(tool.address);
    const text = isTyped ? declareMember(toChecked(tool), "types", types) : declareLoosely(tool);
    budget.left -= text.length + types.size() - typed;
    typed = types.size();
    return text;
  });
  return declareNamespace(name, members, types);
}

/** What results looked like so far is no promise, so no program is refused for expecting something else. */
function toChecked(tool: Tool): Tool {
  const { learned: _, ...checked } = tool;
  return checked;
}

/** In the namespace's own order; a method without a tool behind it is left out. */
export function toolsOf(snapshot: CatalogSnapshot, namespace: Namespace): readonly Tool[] {
  return namespace.tools.flatMap((name) => {
    const address = parseToolAddress(`${namespace.name}.${name}`);
    const tool = address && snapshot.tools.get(address);
    return tool ? [tool] : [];
  });
}
